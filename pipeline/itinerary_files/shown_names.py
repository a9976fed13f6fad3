"""Names of files and subjects of mails, as people see them: whatever their bytes are, never a path."""

from pipeline.model.quoting import one_line, quoted


def decoded(raw: bytes) -> str:
    r"""Bytes that name no encoding: UTF-8, else GB18030, of which GBK and GB2312 are parts.

    >>> decoded("行程单".encode()), decoded("行程单".encode("gbk")), decoded(b"a\xff")
    ('行程单', '行程单', 'a�')
    """
    for encoding in ("utf-8", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("utf-8", "replace")


def shown_name(raw: bytes) -> str:
    r"""A name on one line, cut in its middle where it is long.

    >>> shown_name(b"../../etc/passwd\n\x1b[31m"), len(shown_name(b"x" * 70_000))
    ('../../etc/passwd [31m', 80)
    """
    return quoted(one_line(decoded(raw)))

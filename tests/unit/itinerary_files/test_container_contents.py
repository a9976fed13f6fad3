"""What archives and mails come to: every kind, every bound, hostile ones, and ones that chance has made."""

import base64
import io
import random
import struct
import tarfile
import time
import tracemalloc
import zipfile
from collections.abc import Callable

import pytest

from pipeline.itinerary_files import container_bounds
from pipeline.itinerary_files.container_bounds import MIB
from pipeline.itinerary_files.container_contents import contents
from pipeline.model.itinerary_file import FileStatus, FoundFile
from tests.unit.itinerary_files.containers import (
    attached,
    mail,
    ofd,
    overlapping,
    part,
    raw_zip,
    text_mail,
    zipped,
)

#: An object identifier of PKCS #7 (RFC 5652), without its last number.
PKCS7 = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07"
UNREADABLE, LINK_ONLY, NOT_ONE = FileStatus.UNREADABLE, FileStatus.LINK_ONLY, FileStatus.NOT_AN_ITINERARY


def found(content: bytes) -> list[FoundFile]:
    return list(contents(io.BytesIO(content), ("given",)))


def seen(content: bytes) -> list[tuple[str, str]]:
    """Where each thing was found below the given file, and what is wrong with it, or what is in it."""
    return [("/".join(one.place[1:]), str(one.reason) or one.content[-20:].hex()) for one in found(content)]


def said(content: bytes) -> list[str]:
    return [f"{one.problem}: {one.reason}" for one in found(content)]


def small_bounds(monkeypatch: pytest.MonkeyPatch, **changed: int) -> None:
    for name, bound in changed.items():
        monkeypatch.setattr(container_bounds, name, bound)


class TestOfKinds:
    """What is opened, and what is handed on as it is."""

    def test_an_ofd_is_one_file_though_it_is_an_archive(self) -> None:
        assert found(ofd()) == [FoundFile(("given",), ofd())]
        twin = zipped([("ofd.XML", b"<OFD/>"), ("other.ofd", ofd())])
        assert found(twin) == [FoundFile(("given",), twin)], "for its reader to judge"

    @pytest.mark.parametrize("name", ["[Content_Types].xml", "mimetype", "META-INF/MANIFEST.MF"])
    def test_a_document_of_another_kind_is_not_taken_apart(self, name: str) -> None:
        document = zipped([(name, b"x"), ("a", b"1"), ("b", b"2")])
        assert found(document) == [FoundFile(("given",), document)]

    @pytest.mark.parametrize(
        "content",
        [
            b"%PDF-1.7 x",
            b"\x89PNG\r\n\x1a\n",
            "票号,金额\n".encode("gbk"),
            b"\0" * 70_000,
            b"p",
            b"From here\n",
        ],
    )
    def test_any_other_file_is_handed_on(self, content: bytes) -> None:
        assert found(content) == [FoundFile(("given",), content)]

    @pytest.mark.parametrize(
        "magic",
        [b"Rar!\x1a\x07\x01\x00", b"7z\xbc\xaf\x27\x1c", b"\x1f\x8b\x08\x00", b"BZh9", b"\xfd7zXZ\x00"],
    )
    def test_an_archive_of_a_kind_that_is_not_read_is_told(self, magic: bytes) -> None:
        assert said(magic + b"x") == [
            "unreadable: it is an archive of a kind that is not read here; unpack it and give what is in it"
        ]

    def test_a_mail_as_outlook_saves_it_is_told(self) -> None:
        content = (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 2_000 + "__nameid_version1.0".encode("utf-16-le")
        )
        assert said(content) == [
            "unreadable: it is a mail as Outlook saves it (.msg); save it as .eml, or give its attachments"
        ]
        assert found(content[:900]) == [FoundFile(("given",), content[:900])], "an old workbook"

    @pytest.mark.parametrize(
        "content",
        [
            b"\x30\x80" + PKCS7 + b"\x03\xa0\x80\x30\x80\x02\x01\x00",  # encrypted, of a length that is not known yet
            b"\x30\x82\x10\x00" + PKCS7 + b"\x02\xa0\x82\x10\x00\x30\x82\x10\x00\x02\x01\x01\x31\x00\x30\x82\x10\x00" + PKCS7 + b"\x01\xa0\x82",
            b"\x30\x82\x10\x00\x06\x0b\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x17\xa0",
            b"-----BEGIN PGP MESSAGE-----\n\nhQ",
        ],
        ids=["encrypted", "signed as a whole", "encrypted with a tag", "PGP"],
    )  # fmt: skip
    def test_a_mail_that_is_encrypted_or_signed_as_a_whole_is_told(self, content: bytes) -> None:
        told = (
            "unreadable: it is a mail that is encrypted, or signed as a whole (S/MIME, PGP), and not opened here: open it in a mail program,"
            " save its attachments and give those"
        )
        assert said(content) == [told]
        assert said(mail(part(content, kind=b"application/pkcs7-mime; name=smime.p7m"))) == [told]
        whole = b"From: a@b\r\nSubject: x\r\nContent-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m\r\n"
        whole += b"Content-Transfer-Encoding: base64\r\n\r\n" + base64.encodebytes(content)
        assert said(whole) == [told]

    def test_a_signature_beside_what_is_signed_is_no_such_mail(self) -> None:
        signature = (
            b"\x30\x82\x10\x00"
            + PKCS7
            + b"\x02\xa0\x82\x10\x00\x30\x82\x10\x00\x02\x01\x01\x31\x00\x30\x0b"
            + PKCS7
            + b"\x01\xa0"[:1]
        )
        assert found(signature) == [FoundFile(("given",), signature)]

    def test_attachments_as_outlook_packs_them_are_told(self) -> None:
        packed = b"\x78\x9f\x3e\x22" + b"\0" * 100
        one = part(
            packed, b"Content-Disposition: attachment; filename=winmail.dat", kind=b"application/ms-tnef"
        )
        for content in (packed, mail(one)):
            (told,) = said(content)
            assert told == (
                "unreadable: it holds attachments as Outlook packs them (winmail.dat); open the mail in Outlook and give its attachments, or ask"
                " for them in an ordinary mail"
            )

    @pytest.mark.parametrize("kind", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
    def test_a_tape_archive_is_told(self, kind: int) -> None:
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w", format=kind) as archive:
            archive.addfile(tarfile.TarInfo("行程单.ofd"))
        assert said(made.getvalue()) == [
            "unreadable: it is an archive of a kind that is not read here; unpack it and give what is in it"
        ]

    @pytest.mark.parametrize(
        ("page", "is_link"),
        [
            ("<!DOCTYPE html><html><body>电子行程单<a class='b' href='https://a.cn/1'>下载</a>", True),
            ("\ufeff\n<HTML><body>your itinerary <A HREF=http://a.cn/x>here</A>", True),
            ('<?xml version="1.0"?>\n<!DOCTYPE html><html><meta http-equiv=refresh content="0; url=https://a.cn/1.ofd">', True),
            ("<html>行程单", False),
            ("<html><a href='https://a.cn'>news</a>", False),
            ("<?xml version='1.0'?><EInvoice xmlns:a='https://a.cn' href='https://a.cn'>行程单</EInvoice>", False),
            ('行程单 <a href="https://a.cn">', False),
        ],
    )  # fmt: skip
    def test_a_web_page_with_a_link_in_place_of_the_file_is_told(self, page: str, is_link: bool) -> None:
        for content in (page.encode(), page.encode("gb18030")):
            alone, attached_one = found(content), found(mail(attached(content, b"1.html")))
            assert [one.problem for one in (*alone, *attached_one)] == [LINK_ONLY if is_link else None] * 2

    def test_an_empty_file_is_told(self) -> None:
        assert said(b"") == ["unreadable: it is empty; fetch it again"]
        assert said(zipped([])) == ["unreadable: it is empty; fetch it again"]
        assert said(zipped([("folder/", b"")])) == ["unreadable: it is empty; fetch it again"]

    def test_names_of_parts_are_read_as_chinese_programs_write_them(self) -> None:
        name = "行程单/电子行程单_01.ofd"
        raw = raw_zip(
            [
                (name.encode("gbk"), b"1", {}),
                (name.encode(), b"2", {"flags": 0x800}),
                (name.encode(), b"3", {}),
            ]
        )
        assert [one.place[1] for one in found(raw)] == [name] * 3

    def test_what_systems_put_beside_files_is_left_out(self) -> None:
        archive = zipped(
            [("__MACOSX/._1.ofd", b"x"), (".DS_Store", b"x"), ("a/Thumbs.db", b"x"), (".1.ofd", b"1")]
        )
        assert [one.place[1] for one in found(archive)] == [".1.ofd"]


class TestOfMails:
    """Attachments, whatever a mail says of them."""

    def test_the_mail_s_own_text_pictures_and_signature_are_no_attachments(self) -> None:
        text = part("正文".encode(), kind=b"text/html; charset=utf-8")
        logo = part(b"\x89PNG\r\n\x1a\n", b"Content-ID: <logo>", kind=b"image/png; name=logo.png")
        related = (
            b"Content-Type: multipart/related; boundary=R\r\n\r\n--R\r\n"
            + text
            + b"--R\r\n"
            + logo
            + b"--R--\r\n"
        )
        signature = part(b"x", kind=b"application/pkcs7-signature; name=smime.p7s")
        assert [one.place[1:] for one in found(mail(related, signature, attached(ofd())))] == [("x.ofd",)]
        assert [one.problem for one in found(mail(related, signature))] == [NOT_ONE]

    def test_a_file_is_known_by_its_content_wherever_it_stands(self) -> None:
        as_text = part(ofd(), kind=b"text/plain")
        as_picture = part(ofd(), b"Content-ID: <logo>", kind=b"image/png")
        related = b"Content-Type: multipart/related; boundary=R\r\n\r\n--R\r\n" + as_picture + b"--R--\r\n"
        assert [one.content for one in found(mail(as_text, related))] == [ofd(), ofd()]
        whole = b"From: a@b\r\nSubject: x\r\nContent-Transfer-Encoding: base64\r\n\r\n" + base64.encodebytes(
            ofd()
        )
        assert [one.content for one in found(whole)] == [ofd()]

    def test_a_picture_that_is_no_part_of_a_text_is_an_attachment(self) -> None:
        picture = part(b"\x89PNG\r\n\x1a\n", b"Content-ID: <1>", kind=b"image/png; name=1.png")
        assert [one.place[1:] for one in found(mail(picture))] == [("1.png",)]

    @pytest.mark.parametrize(
        ("header", "name"),
        [
            (
                b'filename="=?GB2312?B?' + base64.b64encode("行程单镕.ofd".encode("gbk")) + b'?="',
                "行程单镕.ofd",
            ),
            (b"filename*=UTF-8''%E8%A1%8C%E7%A8%8B%E5%8D%95.ofd", "行程单.ofd"),
            (b"filename*0*=GBK''%D0%D0;\r\n filename*1*=%B3%CC%B5%A5.ofd", "行程单.ofd"),
            (b'filename="' + "行程单.ofd".encode("gbk") + b'"', "行程单.ofd"),
            (b'filename="' + "行程单.ofd".encode() + b'"', "行程单.ofd"),
            (b'filename="=?x-none?B?//8=?="', "\ufffd\ufffd"),
            (b'filename="=?utf-8?B?A?="', "=?utf-8?B?A?="),
            (b"filename=../../etc/passwd", "../../etc/passwd"),
            (b"", "#1"),
        ],
    )
    def test_names_of_attachments_are_read_in_all_the_ways_they_are_written(
        self, header: bytes, name: str
    ) -> None:
        one = part(ofd(), b"Content-Disposition: attachment; " + header)
        assert [one.place[1] for one in found(mail(one))] == [name]

    def test_forwarded_mails_are_opened(self) -> None:
        inner = mail(
            attached(ofd()),
            subject=b"=?gbk?B?" + base64.b64encode("行程单".encode("gbk")) + b"?=",
            boundary=b"I",
        )
        as_mail = b"Content-Type: message/rfc822\r\n\r\n" + inner
        packed = part(inner, kind=b"message/rfc822")
        as_file = attached(inner, b"fwd.dat")
        for how, name in ((as_mail, "行程单"), (packed, "#1"), (as_file, "fwd.dat")):
            assert [(one.place, one.content) for one in found(mail(how))] == [
                (("given", name, "x.ofd"), ofd())
            ]

    @pytest.mark.parametrize("forwarded", [False, True], ids=["its own", "forwarded in Base64"])
    def test_a_mail_that_is_cut_off_within_an_attachment_is_told_wherever_the_cut_is(
        self, forwarded: bool
    ) -> None:
        whole = mail(attached(ofd()), boundary=b"I")
        begins = whole.index(b"UEsD") + 2
        if forwarded:
            whole = mail(part(whole, kind=b"message/rfc822"))
            begins = len(whole) - 300
        told = set[tuple[FileStatus | None, str]]()
        for cut in range(begins, len(whole)):
            (one,) = found(whole[:cut])
            told.add((one.problem, str(one.reason)))
            assert one.problem or one.content == ofd()
        cut_off = "the archive is cut off, or its parts do not fit together; fetch it again"
        assert told == {(UNREADABLE, cut_off), (None, "")}

    def test_a_forwarded_mail_with_a_link_alone_is_told_as_that(self) -> None:
        inner = b"Content-Type: message/rfc822\r\n\r\n" + text_mail("https://a.cn/x.ofd", "fwd")
        assert [(one.place, one.problem) for one in found(mail(inner))] == [(("given", "fwd"), LINK_ONLY)]

    @pytest.mark.parametrize(
        ("mail", "status"),
        [
            (text_mail("请下载: http://a.cn/1", "您的电子客票行程单"), LINK_ONLY),
            (text_mail("your ITINERARY: https://a.cn/1"), LINK_ONLY),
            (text_mail("行程单 https://a.cn", encoding="gb18030"), LINK_ONLY),
            (b"From: a@b\nSubject: x\n\n" + "行程单 https://a.cn".encode("gbk"), LINK_ONLY),
            (text_mail("行程单已开具"), NOT_ONE),
            (text_mail("https://a.cn/unsubscribe", "news"), NOT_ONE),
            (mail(part("<a href='https://a.cn'>行程单</a>".encode("gbk"), kind=b"text/html; charset=gb2312")), LINK_ONLY),
            (mail(part(b"https://a.cn itinerary", kind=b"text/html; charset=no-such-one")), LINK_ONLY),
        ],
    )  # fmt: skip
    def test_a_mail_without_attachments_is_one_of_two_things(self, mail: bytes, status: FileStatus) -> None:
        assert [(one.place, one.problem) for one in found(mail)] == [(("given",), status)]

    def test_a_mail_with_a_byte_order_mark_and_blank_lines_before_it_is_one(self) -> None:
        for before in (
            b"\xef\xbb\xbf",
            b"\r\n\r\n",
            b" \r\n\t\n",
            b"\0" * 512,
            b"\r\n\0\0\r\n",
            b"X-Other: 1\n" * 20,
        ):
            assert [one.content for one in found(before + mail(attached(ofd())))] == [ofd()]

    def test_a_series_with_blank_lines_before_it_is_one(self) -> None:
        one = b"From - Tue Sep 08 10:00:00 2026\n" + mail(attached(ofd())).replace(b"\r", b"") + b"\n"
        assert [each.content for each in found(b"\n\r\n" + one * 2)] == [ofd(), ofd()]

    @pytest.mark.parametrize(
        "header",
        [
            b"Subject: " + b"=?utf-8?q?a" * 100_000,
            b"Content-Type: text/plain; " + b'a="; ' * 200_000,
            b"Content-Disposition: attachment; " + b"a; " * 300_000,
            b"Content-Disposition: attachment; filename=" + b"=?utf-8?q?a" * 100_000,
            b"X: 1\n\n" + (b"From x" + b" 00:00" * 10_000 + b"\n\n") * 20,
        ],
        ids=["subject", "type", "disposition", "name", "separators"],
    )
    def test_headers_without_end_cost_little_time(self, header: bytes) -> None:
        series = b"From - Tue Sep 08 10:00:00 2026\nFrom: a@b\nMIME-Version: 1.0\n"
        begun = time.process_time()
        list(contents(io.BytesIO(series + header + b"\n\nx\n"), ("given",)))
        assert time.process_time() - begun < 3

    def test_mails_of_a_series_are_divided_where_they_begin_and_nowhere_else(self) -> None:
        one = b"From - Tue Sep 08 10:00:00 2026\n" + text_mail(
            "a\n\nFrom here it is\nFrom a@b Tue Sep  8 10:00:00 2026\n"
        ).replace(b"\r", b"")
        assert [each.place for each in found((one + b"\n") * 2)] == [("given", "#1"), ("given", "#2")]
        long = one + b"x" * 70_000 + b"\n\n"
        assert len(found(long * 3)) == 3
        broken = one + b"\nFrom a@b Tue Sep  8 10:00:00 2026\nno headers\n\n" + one
        assert [each.problem for each in found(broken)] == [NOT_ONE, None, NOT_ONE]


class TestOfBounds:
    """Each bound that is passed is one finding, which names it; what lies beside it is found."""

    @pytest.mark.slow
    def test_a_file_that_is_too_large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        small_bounds(monkeypatch, LARGEST_FILE=MIB)
        large = random.Random(1).randbytes(MIB + 1)
        assert said(large) == ["unreadable: it is larger than an itinerary file may be (1 MiB)"]
        assert found(large[:-1]) == [FoundFile(("given",), large[:-1])]
        assert [one.problem for one in found(zipped([("a", large), ("b", ofd())]))] == [UNREADABLE, None]
        assert [one.problem for one in found(mail(attached(large), attached(ofd())))] == [UNREADABLE, None]
        document = zipped([("OFD.xml", b"x"), ("a", large)])
        assert said(document) == ["unreadable: it is larger than an itinerary file may be (1 MiB)"]

    def test_a_mail_that_is_too_large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        small_bounds(monkeypatch, LARGEST_MAIL=MIB)
        large = mail(attached(random.Random(1).randbytes(MIB)))
        assert said(large) == [
            "unreadable: it is larger than a mail may be (1 MiB); save its attachments and give those"
        ]
        series = b"From a@b Tue Sep  8 10:00:00 2026\n"
        assert [one.problem for one in found(series + large + b"\n\n" + series + mail(attached(ofd())))] == [
            UNREADABLE,
            None,
        ]

    def test_all_that_a_file_unpacks_to(self, monkeypatch: pytest.MonkeyPatch) -> None:
        small_bounds(monkeypatch, LARGEST_UNPACKED=MIB)
        half = random.Random(1).randbytes(MIB // 2)
        assert [one.problem for one in found(zipped([("a", half), ("b", half)]))] == [None, None]
        over = found(zipped([("a", half), ("b", half), ("c", half), ("d", half)]))
        assert [(one.place, one.problem) for one in over] == [
            (("given", "a"), None), (("given", "b"), None), (("given",), UNREADABLE),
        ]  # fmt: skip
        assert (
            str(over[-1].reason)
            == "all that it holds would be larger than 1 MiB unpacked; unpack it and give what is in it"
        )
        nested = zipped([("in", zipped([("a", half[: MIB // 4]), ("b", half[MIB // 4 :])]))])
        assert [(one.place, one.problem) for one in found(nested)] == [
            (("given", "in", "a"), None),
            (("given",), UNREADABLE),
        ]
        assert len(found(mail(attached(nested)))) == 1, "a mail's parts count as well"

    def test_the_ratio_of_a_part(self) -> None:
        bomb = zipped([("a", b"\0" * (2 * MIB)), ("b", ofd())])
        assert seen(bomb)[0] == (
            "a",
            "it would unpack to more than 250 times its size, as no itinerary file does",
        )
        assert found(bomb)[1].content == ofd()
        assert found(zipped([("a", b"\0" * MIB)]))[0].problem is None, "a small one may be"

    def test_the_number_of_parts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        small_bounds(monkeypatch, MOST_PARTS=3)
        three = zipped([(str(number), b"x") for number in range(3)])
        assert len(found(three)) == 3
        over = "it holds more than 3 files; unpack it and give what is in it"
        assert seen(zipped([(str(number), b"x") for number in range(4)]))[-1] == ("", over)
        assert seen(zipped([("in", three)]))[-1] == ("", over), "on every level together"
        assert seen(mail(*[attached(ofd())] * 4))[-1] == ("", over)
        series = b"From a@b Tue Sep  8 10:00:00 2026\n" + text_mail("x").replace(b"\r", b"") + b"\n"
        assert len(found(series * 5)) == 5, "a file of mails is as long as it is"
        assert seen(series + b"From a@b Tue Sep  8 10:00:00 2026\n" + mail(*[attached(ofd())] * 4))[-1] == (
            "#2 hello 2026-09-08",
            over,
        )
        assert seen(zipped([("in", series * 5)]))[-1] == ("", over), "but not in an archive"

    @pytest.mark.parametrize("wrap", [
        lambda content, _: zipped([("in", content)]),
        lambda content, number: mail(attached(content, b"in"), boundary=f"B{number}".encode()),
        lambda content, number: mail(b"Content-Type: message/rfc822\r\n\r\n" + content, subject=b"in", boundary=f"B{number}".encode()),
    ])  # fmt: skip
    def test_the_depth(self, wrap: Callable[[bytes, int], bytes]) -> None:
        content = mail(attached(ofd()), subject=b"in", boundary=b"first")
        for number in range(7):
            content = wrap(content, number)
        assert [one.problem for one in found(content)] == [None]
        deep = found(wrap(content, 7))
        assert [(one.place, str(one.reason)) for one in deep] == [
            (
                ("given", *["in"] * 8),
                "it lies more than 8 files deep in others; unpack those and give what is in them",
            )
        ]


def _quine() -> bytes:
    """An archive that holds more of itself than anybody unpacks."""
    content = ofd()
    for _ in range(40):
        content = zipped([("0", content), ("1", content)])
        if len(content) > 60_000:
            break
    return content


def _with_flags(flags: int) -> bytes:
    return raw_zip([(b"1.ofd", ofd(), {"flags": flags})])


GOOD = zipped([("1.ofd", ofd("1")), ("2.ofd", ofd("2"))])
CUT_OFF = "the archive is cut off, or its parts do not fit together; fetch it again"
OVERLAPPING = "the archive's parts overlap, as no program writes them; ask for the files once more"
ENCRYPTED = "it is protected by a password; unpack it with the password and give what is in it"
PACKED_OTHERWISE = "it is packed in a way that is not read here; unpack it and give what is in it"
DAMAGED = "it is damaged within its archive; fetch the archive again"
NO_MAIL = "the mail can't be understood; save its attachments and give those"
RATIO = "it would unpack to more than 250 times its size, as no itinerary file does"
#: Each hostile file by name: its content, where its one finding lies, and what that says.
HOSTILE: dict[str, tuple[bytes, str, str]] = {
    "cut off in a part": (GOOD[:50], "", CUT_OFF),
    "cut off in its list of parts": (GOOD[:-60], "", CUT_OFF),
    "cut off in its end": (GOOD[:-1], "", CUT_OFF),
    "a beginning alone": (b"PK\3\4", "", CUT_OFF),
    "an end that points nowhere": (GOOD[:-6] + struct.pack("<I", 0x7FFFFFFF) + b"\0\0", "", OVERLAPPING),
    "a bomb of one part": (zipped([("1", b"\0" * (40 * MIB))]), "1", RATIO),
    "a bomb that declares little": (raw_zip([(b"1", zipfile.zlib.compress(b"\0" * (8 * MIB))[2:-4], {"method": 8, "size": 100, "crc": 1})]), "1", DAMAGED),
    "parts that overlap": (overlapping(200, 900_000), "", OVERLAPPING),
    "a part that reaches into the list": (raw_zip([(b"1", b"x", {"packed": 60, "size": 60})]), "", OVERLAPPING),
    "a part behind the end": (raw_zip([(b"1", b"x", {"offset": 0xFFFFFFF0})]), "", OVERLAPPING),
    "a part of another name than listed": (raw_zip([(b"1", b"x", {})]).replace(b"1x", b"2x"), "1", DAMAGED),
    "a wrong checksum": (raw_zip([(b"1", b"x", {"crc": 5})]), "1", DAMAGED),
    "bytes that are not deflated": (raw_zip([(b"1", b"\xff" * 9, {"method": 8})]), "1", DAMAGED),
    "encrypted": (_with_flags(1), "", ENCRYPTED),
    "encrypted strongly": (_with_flags(0x41), "", ENCRYPTED),
    "encrypted with AES": (raw_zip([(b"1", ofd(), {"flags": 1, "method": 99})]), "", ENCRYPTED),
    "a patch": (_with_flags(0x20), "1.ofd", DAMAGED),
    "LZMA": (zipped([("1", b"x" * 99)], zipfile.ZIP_LZMA), "1", PACKED_OTHERWISE),
    "a method that nobody knows": (raw_zip([(b"1", b"x", {"method": 77})]), "1", PACKED_OTHERWISE),
    "a symbolic link": (raw_zip([(b"1", b"/etc/passwd", {"attributes": 0o120777 << 16})]), "1", "it is a link to another file, which is not followed; give that file itself"),
    "an archive within that is cut off": (zipped([("in.zip", GOOD[:50])]), "in.zip", CUT_OFF),
    "a mail of parts beyond Python's stack": (
        b"From: a@b\nSubject: x\n" + b"".join(b'Content-Type: multipart/mixed; boundary="%d"\n\n--%d\n' % (n, n) for n in range(1_050)), "", NO_MAIL
    ),
    "a mail forwarded beyond Python's stack": (b"From: a@b\nSubject: x\nContent-Type: message/rfc822\n\n" * 1_050, "", NO_MAIL),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_one_finding_that_says_what_it_is(name: str) -> None:
    content, place, reason = HOSTILE[name]
    assert [
        ("/".join(one.place[1:]), str(one.reason), one.problem, one.content) for one in found(content)
    ] == [(place, reason, UNREADABLE, b"")]


def test_what_lies_beside_a_hostile_part_is_found() -> None:
    parts = [
        (b"1", b"x", {"flags": 1}),
        (b"2", b"x", {"crc": 1}),
        (b"3", b"x", {"method": 12}),
        (b"../../4", ofd(), {}),
        (b"/5", ofd(), {}),
    ]
    assert [(one.place[1], one.problem) for one in found(raw_zip(parts))] == [
        ("1", UNREADABLE), ("2", UNREADABLE), ("3", UNREADABLE), ("../../4", None), ("/5", None),
    ]  # fmt: skip


def test_parts_of_one_name_and_of_names_alike_but_for_case_are_all_found() -> None:
    archive = raw_zip([(b"a.ofd", ofd("1"), {}), (b"a.ofd", ofd("2"), {}), (b"A.OFD", ofd("3"), {})])
    assert [one.content for one in found(archive)] == [ofd("1"), ofd("2"), ofd("3")]


def test_a_file_stays_within_memory_whatever_it_unpacks_to(monkeypatch: pytest.MonkeyPatch) -> None:
    small_bounds(monkeypatch, LARGEST_FILE=MIB)
    pieces = zipped([(str(number), random.Random(number).randbytes(1000) * 200) for number in range(100)])
    tracemalloc.start()
    try:
        count = sum(1 for _ in contents(io.BytesIO(zipped([("in", pieces)], zipfile.ZIP_STORED)), ("given",)))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (count, most < 8 * MIB) == (100, True), most


def test_a_part_without_a_name_is_found_too() -> None:
    assert [
        one.place[1] for one in found(raw_zip([(b"1", b"x", {}), (b"", b"y", {}), (b"\0z", b"z", {})]))
    ] == ["1", "#2", "z"]


@pytest.mark.slow
def test_sixty_thousand_parts_are_too_many() -> None:
    over = found(raw_zip((b"%d" % number, b"", {}) for number in range(60_000)))
    assert [str(one.reason) for one in over] == [
        "it holds more than 20000 files; unpack it and give what is in it"
    ]


def test_what_doubles_on_every_level_ends() -> None:
    assert len(found(_quine())) <= 2**8


@pytest.mark.parametrize(
    "seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 14))]
)
def test_a_file_that_chance_has_changed_is_found_or_told_and_never_a_defect(seed: int) -> None:
    chance = random.Random(seed)
    good = [
        GOOD,
        ofd(),
        zipped([("in", GOOD), ("mail", mail(attached(GOOD)))], zipfile.ZIP_STORED),
        mail(attached(GOOD), b"Content-Type: message/rfc822\r\n\r\n" + mail(attached(ofd()), boundary=b"I")),
        text_mail("行程单 https://a.cn", "行程单", "gbk"),
        (b"From a@b Tue Sep  8 10:00:00 2026\n" + mail(attached(ofd())).replace(b"\r", b"") + b"\n") * 2,
    ]
    for _ in range(1_000):
        content = bytearray(chance.choice(good))
        for _ in range(chance.randint(1, 8)):
            at, length = chance.randrange(len(content)), chance.randint(1, 40)
            match chance.randrange(5):
                case 0:
                    content[at] = chance.randrange(256)
                case 1:
                    del content[at : at + length]
                case 2:
                    content[at:at] = chance.randbytes(length)
                case 3:
                    content[at:at] = content[at : at + length]
                case 4:
                    content[at:at] = chance.choice(
                        [b"=?", b'"', b"\r\n\r\n", b"--=B\r\n", b"PK\1\2", b"\xff\xff\xff\xff", b"%", b"*0*="]
                    )
        things = found(bytes(content))
        assert things
        assert all(one.place[0] == "given" and bool(one.problem) != bool(one.content) for one in things)

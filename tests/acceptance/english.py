"""English left in what a person was shown who asked for Chinese."""

import re

#: What stays as it is in Chinese: paths, options, codes of reasons, requests, currencies.
NAMES = re.compile(
    r"/[^\s；（]+|\[[a-z]+\]\.[a-z_]+|\[[a-z_.]+\] [a-z_]+|[\w.-]*\.(xlsx|csv|toml|json|db|ledger)|--?[a-z][a-z-]*|[a-z]+(_[a-z]+)+|R[0-9a-f]{16}|https?://\S+|\bCNY\b|\bvoucher( (issue|reconcile|template|history|help( [a-z-]+)?|profile (new|check)|ledger( [a-z]+(-[a-z]+)?)?))?\b"
    r"|\b(Unknown|Failures|Rows|SANDBOX|Nobody|Tickets|DEMO|AGENCY|JSON|HTTP|TOML|Ctrl|nowhere)\b|\[y/N\]:?( n)?|\x1b\[[0-9;?]*[A-Za-z]"
)


def english(shown: str) -> list[str]:
    """The English words in what was shown, names aside."""
    return re.findall(r"[A-Za-z]{2,}", NAMES.sub(" ", shown))

"""The handbook: a page a task, as Markdown that a terminal shows as it is.

A page is `TOPIC.LANG.md` beside this module; its first line is its title. Its commands, the lines of its `console` blocks that
begin with `$`, are run by a test in the order of the page, with the profile and the ledger that the environment names.
"""

from pathlib import Path

from pipeline.model.columns import Lang

#: In the order in which they are listed.
TOPICS = (
    "first-run",
    "bills",
    "corrections",
    "unknown",
    "month",
    "collect",
    "cron",
    "serve",
    "ledger",
    "several-machines",
    "reversals",
    "sandbox",
    "promises",
)


def page(topic: str, lang: Lang) -> str:
    """The page of one of TOPICS."""
    return (Path(__file__).parent / f"{topic}.{lang}.md").read_text(encoding="utf-8")


def title(topic: str, lang: Lang) -> str:
    """What the page is about, in a few words."""
    return page(topic, lang).partition("\n")[0].removeprefix("# ")

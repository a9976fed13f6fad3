"""The handbook: both languages have the same commands, and every command does what its page says it does.

Seen to catch: an option that is gone or written wrongly, a command that one language lacks, a word of the other language.
"""

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import click
import openpyxl
import psycopg
import pytest

from pipeline.cli.commands import voucher
from pipeline.handbook import TOPICS, page
from pipeline.model.columns import LANGS, Lang
from pipeline.sandbox.fault_file import _KIND_KEYS, _SHARED_KEYS
from tests.acceptance.conftest import Desk, Sandbox, _listening, running_sandbox, tickets, write_workbook
from tests.acceptance.office import LOST_AFTER, LOST_BEFORE, answered
from tests.acceptance.page.visiting import PASSWORD, made_certificate
from tests.conftest import needs_tool
from tests.crash.forked import Ran
from tests.postgresql_server import programs, server

REPOSITORY = Path(__file__).parents[2]
HANDBOOK = REPOSITORY / "pipeline" / "handbook"
#: What a page says to a shell beside our own commands: keys are typed in, never shown.
TYPED = re.compile(r"read -rs (VOUCHER_[A-Z_]+) && export \1")
#: Numbers of a page, in place of which the carrier's own are put.
NUMBERS = ("26110000000000000001", "26110000000000000002", "26110000000000000003")
#: What a page marks as a name: a command, an option, a file, a sheet, a value.
CODE = re.compile(r"`[^`\n]+`")
BLOCK = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
#: Names that stay as they are in Chinese: of programs, systems, formats and keys.
PROGRAMS = re.compile(
    r"(?<![A-Za-z])(?:Voucher Pipeline|Linux|Debian|Ubuntu|macOS|Windows|Python|Excel|LibreOffice|Java Excel API|openpyxl|XlsxWriter|xlwt|SheetJS"
    r"|PostgreSQL|SQLite|POSIX|Apache POI|FUSE|FAT|ext4|xfs|btrfs|zfs|cron|exim4|3\.0pl1|Big5|logrotate|systemd|shell|SIGTERM|Ctrl|Shift|JSON|HTTP|UTF|GB)(?![A-Za-z])"
)
#: Of every command, of programs that are not ours, and what takes a server of mails.
FOREIGN = {"--mailbox", "--help", "--now", "--only-binary"}


def blocks(topic: str, lang: Lang) -> Iterator[tuple[list[str], list[str]]]:
    """What a page's `console` blocks say to type, each with what the `text` block below it says that the last command shows."""
    found = re.findall(
        r"^ *```console\n(.*?)^ *```$(?:\n\n *```text\n(.*?)^ *```$)?",
        page(topic, lang),
        re.DOTALL | re.MULTILINE,
    )
    for typed, shown in found:
        yield [line.strip().removeprefix("$ ") for line in typed.splitlines()], shown.splitlines()


def commands(topic: str, lang: Lang) -> list[str]:
    return [command for typed, _ in blocks(topic, lang) for command in typed]


#: What differs from run to run: times, days, and names of requests, traces and vouchers.
OF_A_RUN = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d)?|\b(?:R[0-9a-f]{16,}|[0-9a-f]{32}|\d{15,})\b")


def unnumbered(line: str) -> str:
    """A line without what differs from run to run, and without its blanks."""
    return " ".join(OF_A_RUN.sub("0", line).split())


def check_shown(shown: Sequence[str], ran: Ran) -> None:
    """These lines are shown, in this order; one that ends in an ellipsis goes on."""
    told = iter([unnumbered(line) for line in (ran.err + ran.out).splitlines()])
    for line in shown:
        wanted = unnumbered(line)
        assert any(
            each.startswith(wanted[:-1]) if wanted.endswith("…") else each == wanted for each in told
        ), (wanted, ran.err, ran.out)


def without_words(command: str) -> str:
    """The command without what is in a language: quoted texts, and the language itself."""
    return re.sub(r'"[^"]*"|--lang \w+', '""', command)


@dataclass
class Story:
    """How a page's folder is before its commands, what a person does after some of them, and how they end if not with 0."""

    before: Callable[[Desk, Sandbox], object] = lambda *_: None
    after: Mapping[str, Callable[[Desk, Sandbox], object]] = field(default_factory=dict)
    codes: Mapping[str, int] = field(default_factory=dict)
    faults: str = ""
    carrier: Sequence[str] = ()  # options of the sandbox


def october(desk: Desk, count: int = 3) -> Path:
    """A month's workbook: fares as itineraries, and one as an invoice."""
    return write_workbook(
        desk.folder / "october.xlsx", [*tickets(count), {"ticket_no": "9990000000009", "voucher": "invoice"}]
    )


def issued(desk: Desk, carrier: Sandbox) -> None:
    october(desk)
    assert desk.voucher("issue", "october.xlsx").code == 0
    statement(desk, carrier)


def statement(desk: Desk, carrier: Sandbox, name: str = "statement.csv") -> None:
    (desk.folder / name).write_bytes(carrier.statement.read_bytes())


def mailed(desk: Desk, carrier: Sandbox) -> None:
    issued(desk, carrier)
    deadline = time.monotonic() + 60
    while len([*(desk.folder / "mails").glob("*.eml")]) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def reversed_by_the_carrier(desk: Desk, carrier: Sandbox) -> None:
    issued(desk, carrier)
    for number in issued_numbers(carrier)[:2]:
        order = urllib.request.Request(
            f"{carrier.base_url}/sandbox/reverse", json.dumps({"number": number}).encode()
        )
        urllib.request.urlopen(order).close()


def issued_numbers(carrier: Sandbox) -> list[str]:
    """The first number of each ticket, in the tickets' order."""
    first = {line["ticket_no"]: line["number"] for line in reversed(carrier.issued())}
    return [first[ticket] for ticket in sorted(first)]


def november(desk: Desk, carrier: Sandbox) -> None:
    statement(desk, carrier, "november.csv")


def two_lost(desk: Desk, carrier: Sandbox) -> None:
    """Of one request the answer is lost, the other never came to the carrier."""
    october(desk)
    assert desk.voucher("issue", "october.xlsx").code == 4
    statement(desk, carrier)


def one_to_correct(desk: Desk, _: Sandbox) -> None:
    write_workbook(
        desk.folder / "october.xlsx", [*tickets(2), {"ticket_no": "9990000000003", "passenger_name": ""}]
    )


def corrected(desk: Desk, _: Sandbox) -> None:
    book = openpyxl.load_workbook(desk.folder / "october.result.xlsx")
    sheet = book["Failures"]
    names = [cell.value for cell in sheet[1]]
    sheet.cell(2, names.index("passenger_name") + 1).value = "LI/NA"
    book.save(desk.folder / "october.result.xlsx")


def answer_given(desk: Desk, _: Sandbox) -> None:
    result = desk.folder / "october.result.xlsx"
    answered(result, "not issued").replace(result)


def moved(desk: Desk, carrier: Sandbox) -> None:
    """The same carrier, under another name of this machine."""
    desk.profile(carrier.base_url.replace("127.0.0.1", "localhost"))


def elsewhere(desk: Desk, _: Sandbox) -> None:
    """On another machine, where no run is noted."""
    (desk.folder / "carrier.ledger.lock").unlink()
    shutil.rmtree(desk.folder / ".local" / "state")


def inbox(desk: Desk, _: Sandbox) -> None:
    for name in ("in", "out"):
        (desk.folder / name).mkdir()


def faults(desk: Desk, _: Sandbox) -> None:
    october(desk)
    text = page("sandbox", "en")
    found = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
    assert found
    (desk.folder / "faults.toml").write_text(found[1])


def for_the_office(desk: Desk, _: Sandbox) -> None:
    made_certificate(desk.folder, "page")
    desk.environment["BROWSER"] = "true"  # opens nothing


#: The server of the page on several machines, while that is told.
_SERVER, _WORKERS = contextlib.ExitStack(), contextlib.ExitStack()


def on_a_server(desk: Desk, _: Sandbox) -> None:
    found = programs()
    needs_tool("PostgreSQL's server", found)
    assert found
    october(desk)
    one = _SERVER.enter_context(server(found))
    desk.environment["VOUCHER_LEDGER"] = one.url(one.new_database())


def _by_the_owner(desk: Desk, *statements: str) -> None:
    with psycopg.connect(desk.environment["VOUCHER_LEDGER"], autocommit=True) as owner:
        for statement in statements:
            owner.execute(statement.encode())


def two_silent_workers(desk: Desk, _: Sandbox) -> None:
    """Long enough ago for nobody to wait."""
    _by_the_owner(
        desk,
        *(
            f"SELECT voucher.join_work('{one}-0000-0000-0000-000000000000', 'old', 1)"
            for one in ("7f3a91bd", "c04d2e5a")
        ),
        "UPDATE voucher.worker SET heard_at = heard_at - interval '1 hour'",
        "UPDATE voucher.ledger SET send_within = '1 second', lease = '3 seconds'",
    )


def started_anew(desk: Desk, _: Sandbox) -> None:
    """Its server is, as far as the ledger can see; a lease ago, and the workers that were at work since are done."""
    _by_the_owner(
        desk,
        "CREATE OR REPLACE FUNCTION voucher.life_now() RETURNS text LANGUAGE sql STABLE AS $$ SELECT 'another' $$",
        "SELECT voucher.open_claims()",
        "UPDATE voucher.server_life SET seen_at = seen_at - interval '1 hour'",
    )
    with psycopg.connect(desk.environment["VOUCHER_LEDGER"], autocommit=True) as owner:
        others = "machine <> 'old' AND left_at IS NULL AND vouched_life < (SELECT max(life) FROM voucher.server_life)"
        deadline = time.monotonic() + 30
        while owner.execute(f"SELECT FROM voucher.worker WHERE {others}".encode()).fetchone() is not None:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def all_workers_end(desk: Desk, _: Sandbox) -> None:
    _WORKERS.close()
    _by_the_owner(
        desk, "SELECT voucher.declare_dead('c04d2e5a-0000-0000-0000-000000000000', 'chen', 'it is off')"
    )


STORIES: Mapping[str, Story] = {
    "first-run": Story(
        after={
            "voucher profile new": lambda desk, carrier: desk.profile(carrier.base_url),
            "voucher template first.xlsx": lambda desk, _: write_workbook(
                desk.folder / "first.xlsx", tickets(2)
            ),
        },
    ),
    "bills": Story(
        before=lambda desk, _: (
            october(desk),
            write_workbook(desk.folder / "buyers.xlsx", []),
        ),
    ),
    "corrections": Story(
        before=one_to_correct,
        after={"voucher issue october.xlsx": corrected},
        codes={"voucher issue october.xlsx": 1},
    ),
    "unknown": Story(
        before=two_lost,
        after={
            "voucher reconcile --statement statement.csv": answer_given,
            "voucher reconcile october.xlsx": november,
        },
        codes={
            "voucher reconcile --statement statement.csv": 4,
            "voucher reconcile october.xlsx": 1,  # the statement has settled one of the two that are answered
        },
        faults=f"{LOST_AFTER}requests = [2]\n{LOST_BEFORE}requests = [3]\n",
    ),
    "month": Story(before=issued),
    "collect": Story(before=mailed, carrier=("--deliver-to", "mails")),
    "cron": Story(before=inbox),
    "ledger": Story(
        before=issued,
        after={"voucher ledger close-gap": elsewhere, "voucher issue": moved},
        codes={"voucher reconcile": 1},  # it tells the gap
    ),
    "several-machines": Story(
        before=on_a_server,
        after={
            "voucher ledger prepare --send-within": two_silent_workers,
            "voucher ledger declare-dead": started_anew,
            "voucher ledger vouch c04d2e5a": all_workers_end,
        },
        codes={"voucher ledger vouch c04d2e5a": 0, "voucher ledger vouch": 3},
    ),
    "reversals": Story(before=reversed_by_the_carrier),
    "sandbox": Story(before=faults),
    "serve": Story(before=for_the_office),
    "promises": Story(),
}


@contextmanager
def at_desk(desk: Desk, story: Story) -> Iterator[Sandbox]:
    known = write_workbook(desk.folder / "known.xlsx", tickets(12))
    with running_sandbox(desk, known, faults=story.faults, more=story.carrier) as carrier:
        desk.profile(carrier.base_url)
        desk.environment |= {"VOUCHER_PROFILE": "carrier.toml", "VOUCHER_LEDGER": "carrier.ledger"}
        with _SERVER, _WORKERS:
            story.before(desk, carrier)
            yield carrier


#: What a page shows, it shows in its language; commands alone are the same in all.
PAGES = [
    (topic, lang)
    for topic in TOPICS
    for lang in LANGS
    if lang == "en" or any(shown for _, shown in blocks(topic, lang))
]


@pytest.mark.slow
@pytest.mark.parametrize(("topic", "lang"), PAGES)
def test_every_command_of_a_page_does_what_it_says(desk: Desk, topic: str, lang: Lang) -> None:
    story = STORIES[topic]
    with at_desk(desk, story) as carrier:
        desk.environment["VOUCHER_LANG"] = lang
        if topic == "first-run":
            (desk.folder / "carrier.toml").unlink()
            desk.environment.clear()
        for typed, shown in blocks(topic, lang):
            for command in typed:
                ran = run(desk, carrier, command, story.codes)
                for beginning, does in story.after.items():
                    if command.startswith(beginning):
                        does(desk, carrier)
            if shown:
                assert ran
                check_shown(shown, ran)


def run(desk: Desk, carrier: Sandbox, command: str, codes: Mapping[str, int]) -> Ran | None:
    """Run a page's command as it is, but for numbers that the carrier alone knows and a port that may be taken."""
    if TYPED.fullmatch(command):
        return None
    program, *arguments = shlex.split(command)
    if program == "export":
        name, _, value = arguments[0].partition("=")
        desk.environment[name] = value
        return None
    assert program == "voucher", command
    if arguments[0] == "sandbox":
        server = desk.begin(*(part.replace("8080", "0") for part in arguments))
        assert _listening(server)
        os.kill(server.pid, signal.SIGTERM)
        ended = server.end()
        assert ended.code == 0
        return ended
    if does := {"serve": served, "worker": takes_part}.get(arguments[0]):
        return does(desk, arguments)
    if arguments[:2] in (["user", "add"], ["user", "password"]):
        return told(desk, f"{PASSWORD}\n", *arguments)
    numbers = dict(zip(NUMBERS, issued_numbers(carrier), strict=False))
    ran = desk.voucher(*(numbers.get(part, part) for part in arguments))
    assert ran.code == next(
        (code for beginning, code in codes.items() if command.startswith(beginning)), 0
    ), (
        command,
        ran.out,
        ran.err,
    )
    return ran


def served(desk: Desk, arguments: Sequence[str]) -> Ran:
    """Start the page as it is said, but on any free port, and end it."""
    given = [re.sub(r":8\d+$", ":0", part) for part in arguments]
    server = desk.begin(*given, *([] if "--listen" in given else ["--listen", "127.0.0.1:0"]))
    desk.during(server, lambda: "Ctrl-C" in server.told())
    os.kill(server.pid, signal.SIGTERM)
    ended = server.end()
    assert ended.code == 0, ended
    return ended


def takes_part(desk: Desk, arguments: Sequence[str]) -> None:
    """Have a worker take part until the page is over; it ends in good order then."""
    worker = desk.begin(*arguments)
    desk.during(worker, lambda: "Ctrl-C" in worker.told())

    def end() -> None:
        os.kill(worker.pid, signal.SIGTERM)
        assert worker.end().code == 0

    _WORKERS.callback(end)


def told(desk: Desk, typed: str, *arguments: str) -> Ran:
    """Run a command with a line on stdin."""
    ran = subprocess.run(
        [sys.executable, "-m", "pipeline", *arguments], check=False, input=typed, env=desk.environ(), cwd=desk.folder,
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ran.returncode == 0, ran
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def test_the_page_on_the_sandbox_has_every_kind_of_fault_with_its_keys() -> None:
    """And no other, in the table."""
    for lang in LANGS:
        table = [line for line in page("sandbox", lang).splitlines() if line.startswith("| `")]
        told = {
            kind: {*re.findall(r"`([a-z_]+)`\*", keys)}
            | {f"{each}?" for each in re.findall(r"`([a-z_]+)`(?!\*)", keys)}
            for kinds, keys in (line[1:].split("|", 1) for line in table[1:])
            for kind in re.findall("`([a-z_]+)`", kinds)
        }
        assert told == {
            kind: {key if must else f"{key}?" for key, must in keys.items()}
            for kind, keys in _KIND_KEYS.items()
        }
        assert [key for key in _SHARED_KEYS if f"`{key}`" not in page("sandbox", lang)] == []


@pytest.mark.parametrize("lang", LANGS)
def test_the_mapping_of_the_page_on_bills_is_one(desk: Desk, lang: Lang) -> None:
    october = write_workbook(desk.folder / "october.xlsx", [{"ticket_status": "已成行", "voucher": ""}])
    found = re.search(r"```toml\n(.*?)```", page("bills", lang), re.DOTALL)
    assert found
    desk.profile("http://127.0.0.1:1")
    desk.environment["VOUCHER_PROFILE"] = "carrier.toml"
    (desk.folder / "map.toml").write_text(textwrap.dedent(found[1]), encoding="utf-8")
    ran = desk.voucher(
        "check", october, "--columns", "map.toml", "--as-of", "2026-11-20", "--report", "report.json"
    )
    row = desk.report()["rows"][0]
    assert (row["status"], row["voucher"]) == ("ready", "invoice"), ran


@pytest.mark.parametrize("topic", TOPICS)
def test_the_languages_say_the_same_commands(topic: str) -> None:
    assert [*map(without_words, commands(topic, "en"))] == [*map(without_words, commands(topic, "zh"))]


def test_no_option_is_named_that_no_command_of_the_handbook_has() -> None:
    run_here = {
        option
        for topic in TOPICS
        for each in commands(topic, "en")
        for option in re.findall(r"(?<!\S)--[a-z-]+", each)
    }
    for lang in LANGS:
        for topic in [*TOPICS, "README"]:
            named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", read(topic, lang)))
            assert named <= run_here | FOREIGN, (topic, lang)


def test_every_command_stands_on_a_page() -> None:
    def below(command: click.Command, name: str) -> Iterator[str]:
        if isinstance(command, click.Group):
            for each in command.commands.values():
                yield from below(each, f"{name} {each.name}")
        else:
            yield name

    told = "\n".join(each for topic in TOPICS for each in commands(topic, "en")) + "\nvoucher help "
    assert [name for name in below(voucher, "voucher") if f"{name} " not in told.replace("\n", " \n")] == []


def test_there_is_a_page_for_every_topic_in_every_language_and_no_other() -> None:
    assert {path.name for path in HANDBOOK.glob("*.md")} == {
        "README.zh.md",
        *(f"{topic}.{lang}.md" for topic in TOPICS for lang in LANGS),
    }


README: dict[Lang, Path] = {"en": REPOSITORY / "README.md", "zh": HANDBOOK / "README.zh.md"}


def read(topic: str, lang: Lang) -> str:
    """A page of the handbook, or README's."""
    return README[lang].read_text(encoding="utf-8") if topic == "README" else page(topic, lang)


def prose(topic: str, lang: Lang) -> str:
    """A page without its blocks, without where its links lead, and without the link to itself in the other language."""
    return re.sub(
        r"^\[(?:中文|English)\]|(?<=\])\([^)]+\)", "", BLOCK.sub("", read(topic, lang)), flags=re.MULTILINE
    )


@pytest.mark.parametrize("topic", [*TOPICS, "README"])
def test_a_page_is_in_its_language(topic: str) -> None:
    english, chinese = prose(topic, "en"), prose(topic, "zh")
    assert re.findall(r"[\u3400-\u9fff]+", CODE.sub("", english)) == []
    assert re.findall(r"[A-Za-z]{2,}", PROGRAMS.sub("", CODE.sub("", chinese))) == []
    # What the Chinese page marks as a name is one on the English page, too: no sentence hides there.
    assert [name for name in CODE.findall(chinese) if name.strip("`") not in english] == []


def test_readme_is_the_same_page_in_both_languages_and_leads_to_every_other() -> None:
    def marked(lang: Lang) -> list[list[str]]:
        text = read("README", lang)
        return [re.findall("```sh\n.*?```", text, re.DOTALL), re.findall(r"`voucher [^`]+`|!\[", text)]

    assert marked("en") == marked("zh")
    for lang in LANGS:
        links = re.findall(r"\]\(([^)]+)\)", read("README", lang))
        lead = {(README[lang].parent / link).resolve() for link in links}
        assert [path for path in lead if not path.exists()] == []
        assert {HANDBOOK / f"{topic}.{lang}.md" for topic in TOPICS} <= lead
        assert README["zh" if lang == "en" else "en"] in lead


def test_the_commands_of_readme_are_those_of_the_handbook() -> None:
    told = {command for topic in TOPICS for command in commands(topic, "en")}
    named = re.findall(r"`(voucher [^`]+)`", read("README", "en"))
    assert [one for one in named if not any(command.startswith(one) for command in told)] == [
        "voucher help", "voucher help TOPIC", "voucher help …"
    ]  # fmt: skip


@pytest.mark.parametrize("lang", LANGS)
def test_help_lists_the_pages_and_shows_them(desk: Desk, lang: Lang) -> None:
    listed = desk.voucher("help", "--lang", lang)
    assert (listed.code, listed.err) == (0, "")
    assert [line.split()[2] for line in listed.out.splitlines()] == [*TOPICS]
    assert desk.voucher("help", "unknown", "--lang", lang).out == page("unknown", lang)
    assert desk.voucher("help", "no such page", "--lang", lang).code == 2

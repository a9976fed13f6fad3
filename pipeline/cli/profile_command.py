"""`voucher profile ...`: its commands, done."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from pipeline.cli.stderr import asking, teller
from pipeline.cli.stdout import print_lines
from pipeline.messages.translate import rendered
from pipeline.model.columns import Lang
from pipeline.model.errors import InputProblem
from pipeline.model.exit_code import ExitCode
from pipeline.model.message import message
from pipeline.profile_file import load_profile, unfit
from pipeline.run.profile_check import findings, profile_findings
from pipeline.template.carrier_profile import EXPLAINED, defaults, write_profile
from pipeline.template.new_file import check_new

_OF_CARRIER = ("base_url", "agency", "ticket_prefixes", "proxy")


def new(path: Path, *, lang: Lang) -> None:
    """Write it, with the answers of whoever is at the terminal, and say what is to be filled in."""
    check_new(path)
    write_profile(path, _answers(lang) if asking() else {})
    tell = teller(lang)
    tell(message("Profile: {file}", file=str(path)))
    for finding in profile_findings(load_profile(path)):
        if finding.exit_code:
            tell(finding.said)
    tell(
        message(
            "What is missing is to be filled in there; voucher profile check --profile {file} says what is left",
            file=str(path),
        )
    )


def _answers(lang: Lang) -> dict[tuple[str, str], Any]:
    """What the person at the terminal answers, checked; nothing of what they leave for later."""
    teller(lang)(message("Enter leaves an answer for later."))
    answers: dict[tuple[str, str], Any] = {}
    for asked in _asked(answers):
        value = _answer(asked, lang)
        if value:
            answers[asked] = value
    return answers


def _asked(answers: dict[tuple[str, str], Any]) -> Iterator[tuple[str, str]]:
    """The keys to ask for, one after another: what only the carrier knows; nothing that the answers before make needless."""
    for key in _OF_CARRIER:
        plain = str(answers.get(("carrier", "base_url"), "")).lower().startswith("http:")
        if not (key == "proxy" and plain):
            yield "carrier", key
    for section, key in (
        asked for asked, value in defaults().items() if asked[0].startswith("codes.") and not value
    ):
        if section != "codes.product_type" or ("codes.fee_type", "ancillary") in answers:
            yield section, key


def _answer(asked: tuple[str, str], lang: Lang) -> Any:
    """One answer as TOML has it, asked for until it is fit; empty where it is left for later."""
    section, key = asked
    question = rendered(EXPLAINED[section][1][key], lang)
    while True:
        typed = click.prompt(
            f"[{section}] {key}: {question}\n", default="", show_default=False, prompt_suffix="> ", err=True
        )
        text = typed.strip().encode(errors="replace").decode()
        value = re.findall('[^\\s,，、"]+', text) if key == "ticket_prefixes" else text
        problem = unfit(section, key, value) if value else None
        if not problem:
            return value
        teller(lang)(message("{key} {wanted}", key=key, wanted=problem))


def check(*, profile: Path | None, ledger: str | None, lang: Lang) -> None:
    """Print what was looked at, a line each, as soon as it is known."""
    if profile is None:
        raise InputProblem(
            "no profile is given: name it with --profile or VOUCHER_PROFILE; voucher profile new PATH writes one"
        )
    code = ExitCode.DONE
    for finding in findings(load_profile(profile), ledger):
        print_lines([rendered(finding.said, lang)])
        code = max(code, finding.exit_code)
    sys.exit(code)

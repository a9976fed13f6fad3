"""Every rule against its own examples, through the reader and the whole judgement."""

import datetime
from collections.abc import Callable

import pytest

from pipeline.messages.reasons import REASON
from pipeline.model.known_charges import KnownCharges
from pipeline.model.profile import Profile, Terms
from pipeline.model.table import Table
from pipeline.rules.judge import RULES, judge
from pipeline.rules.rule import Example, Rule

CASES = [(rule, example) for rule in RULES for example in rule.examples]


@pytest.mark.parametrize(
    ("rule", "example"), CASES, ids=[f"{rule.code}-{rule.column}-{n}" for n, (rule, _) in enumerate(CASES)]
)
def test_a_rule_holds_by_its_examples(
    rule: Rule,
    example: Example,
    table_of: Callable[..., Table],
    full_profile: Profile,
    as_of: datetime.date,
) -> None:
    verdicts = judge(table_of([example.cells]), KnownCharges(), Terms(as_of, example.profile or full_profile))
    found = [(finding.code, finding.column) for finding in verdicts.findings]
    assert ((rule.code, rule.column) in found) is example.breaks
    if example.breaks:
        assert verdicts.status[0] != "ready"


def test_every_rule_has_a_source_and_examples_on_both_sides() -> None:
    # bad_choice of a Buyers row can't be shown by a ticket row alone; test_buyers shows it.
    one_sided = {("bad_choice", "header_type")}
    for rule in RULES:
        assert rule.code in REASON
        assert rule.source.startswith(("carrier-interface.md", "interface.md"))
        sides = {example.breaks for example in rule.examples}
        assert sides == {True, False} or (rule.code, rule.column) in one_sided


def test_the_row_that_examples_change_may_be_sent(table_of: Callable[..., Table], terms: Terms) -> None:
    verdicts = judge(table_of([{}]), KnownCharges(), terms)
    assert verdicts.findings == ()
    assert verdicts.status.tolist() == ["ready"]

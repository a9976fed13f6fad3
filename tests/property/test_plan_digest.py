"""A plan's digest is the same for the same requests, and another one for any change to what is asked of whom."""

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.model.job import Plan
from pipeline.model.known_charges import KnownCharges
from pipeline.model.plan_digest import plan_digest
from pipeline.model.profile import Carrier, Codes, Owner, Profile, Terms
from pipeline.model.request import HEADER, Charge, Header, Identity, Request
from pipeline.rules.judge import judge
from pipeline.run.check import check
from pipeline.splitting import split
from tests.conftest import AS_OF, GOOD, table_of
from tests.unit.reconciliation.desk import ticket, workbook
from tests.unit.run.runs import Watched, job

OWNER = Owner("https://carrier.example", "DEMO")
CODES = Codes(
    fee_type={"ticket_fare": "T", "refund": "R", "ancillary": "A"},
    product_type={"flight": "F", "seat": "S", "meal": "M"},
    header_type={"business": "C", "individual": "P"},
)
PROFILE = Profile(codes=CODES)
TEXT = st.text("aAé甲\"',[]\\ ", max_size=4)


@st.composite
def _request(draw: st.DrawFn, number: int) -> Request:
    header = Header(draw(st.sampled_from(["business", "individual"])), *(draw(TEXT) for _ in HEADER[1:]))
    charges = [
        Charge(
            Identity(f"999{number:04}{at:06}", charge, product), draw(TEXT), draw(st.integers(1, 10**9)), at,
            PROFILE.wire(charge, product),
        )
        for at, (charge, product) in enumerate(
            draw(st.lists(st.sampled_from([("ticket_fare", "flight"), ("refund", "flight"), ("ancillary", "seat")]), min_size=1, max_size=3))
        )
    ]  # fmt: skip
    market = draw(st.sampled_from(["domestic", "international"]))
    return Request("invoice", market, header, tuple(charges))


@st.composite
def _plans(draw: st.DrawFn) -> list[Request]:
    return [draw(_request(number)) for number in range(draw(st.integers(1, 4)))]


def _changed_requests(one: Request) -> Iterator[Request]:
    """The request with each single thing in it changed."""
    yield replace(one, voucher="itinerary")
    yield replace(one, market="x")
    for name in HEADER:
        yield replace(one, header=replace(one.header, **{name: getattr(one.header, name) + "x"}))
    for at, charge in enumerate(one.charges):
        before, after = one.charges[:at], one.charges[at + 1 :]
        others = [
            replace(charge, amount=charge.amount + 1),
            replace(charge, passenger_name=charge.passenger_name + "x"),
            *(
                replace(
                    charge,
                    identity=replace(charge.identity, **{of.name: getattr(charge.identity, of.name) + "x"}),
                )
                for of in fields(Identity)
            ),
            *(replace(charge, wire=wire) for wire in (None, ("x", "Flight"), ("FARE", "x"))),
        ]
        yield from (replace(one, charges=(*before, other, *after)) for other in others)
        yield replace(one, charges=(*before, *after))


def _changed_plans(plan: list[Request]) -> Iterator[tuple[list[Request], Profile, Owner]]:
    for at, one in enumerate(plan):
        for other in (*([another] for another in _changed_requests(one)), [], [one, one]):
            yield [*plan[:at], *other, *plan[at + 1 :]], PROFILE, OWNER
        if len(one.charges) > 1:  # on two vouchers
            parts = [replace(one, charges=one.charges[:1]), replace(one, charges=one.charges[1:])]
            yield [*plan[:at], *parts, *plan[at + 1 :]], PROFILE, OWNER
        of_type = {**CODES.header_type, one.header.header_type: "x"}
        yield plan, replace(PROFILE, codes=replace(CODES, header_type=of_type)), OWNER
    yield plan, replace(PROFILE, carrier=Carrier(ticket_no_hyphen=True)), OWNER
    yield plan, PROFILE, replace(OWNER, agency="OTHER")
    yield plan, PROFILE, replace(OWNER, base_url="https://other.example")


# A machine that does much else makes a first plan slowly.
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(plan=_plans())
def test_any_single_change_changes_it(plan: list[Request]) -> None:
    digest = plan_digest(plan, PROFILE, OWNER)
    for changed in _changed_plans(plan):
        assert plan_digest(*changed) != digest, changed


@given(plan=_plans(), data=st.data())
def test_the_order_of_requests_and_of_charges_changes_nothing(
    plan: list[Request], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(plan))
    turned = [replace(one, charges=tuple(reversed(one.charges))) for one in shuffled]
    assert plan_digest(turned, PROFILE, OWNER) == plan_digest(plan, PROFILE, OWNER)


BUYERS: list[dict[str, str]] = [{}, {"remarks": "PO 1"}, {"header_name": "B"}, {"header_type": "individual"}]


@settings(max_examples=min(30, settings().max_examples), deadline=None)
@given(
    amounts=st.lists(
        st.tuples(st.integers(1, 10_000_00), st.sampled_from(BUYERS), st.sampled_from(["invoice", "itinerary"])),
        min_size=1, max_size=12,
    ),
    data=st.data(),
)  # fmt: skip
def test_the_same_rows_in_any_order_are_the_same_plan_and_any_amount_another(
    amounts: Any, data: st.DataObject
) -> None:
    rows = [
        {"ticket_no": ticket(at), "amount": f"{amount / 100:.2f}", "voucher": voucher, **buyer}
        for at, (amount, buyer, voucher) in enumerate(amounts)
    ]
    at = data.draw(st.integers(0, len(rows) - 1))
    cent_less = f"{(amounts[at][0] - 1 or 2) / 100:.2f}"
    changed = [*rows[:at], {**rows[at], "amount": cent_less}, *rows[at + 1 :]]
    digest = _digest(rows)
    assert _digest(data.draw(st.permutations(rows))) == digest
    assert _digest(changed) != digest


def _digest(rows: Sequence[dict[str, Any]]) -> str:
    terms = Terms(AS_OF, PROFILE)
    requests = split(judge(table_of(rows), KnownCharges(), terms), KnownCharges(), terms)
    return Plan(tuple(requests), PROFILE, OWNER).digest


def test_two_judgings_of_a_file_are_one_plan_whatever_its_name_and_language(tmp_path: Path) -> None:
    rows = [{**GOOD, "ticket_no": ticket(number)} for number in range(3)]

    def digest(path: Path, **given: Any) -> str:
        made = job(path, **given)
        return plan_digest(check(made, Watched().watch).result.asked, made.profile, made.owner)

    path = workbook(tmp_path / "a.xlsx", *rows)
    first = digest(path)
    assert len(first) == 64
    assert digest(path, lang="zh", operator="chen") == first
    assert digest(workbook(tmp_path / "b.xlsx", *reversed(rows))) == first
    assert digest(workbook(tmp_path / "c.xlsx", *rows[:2])) != first

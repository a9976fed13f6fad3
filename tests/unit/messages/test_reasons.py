"""Every reason: its code and status by contract, its texts by the facts that its finder supplies."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from pipeline.messages.likely_mistakes import HINTS
from pipeline.messages.reason_rendering import reason_text
from pipeline.messages.reasons import REASON, REASONS, Reason
from pipeline.messages.translate import heading, rendered, status_word, translated
from pipeline.model.columns import LANGS
from pipeline.model.known_charges import KnownCharge, KnownCharges
from pipeline.model.message import terms
from pipeline.model.profile import Carrier, Codes, Profile, Terms
from pipeline.model.request import Identity
from pipeline.model.status import FINDING_RANK, STATUS, STATUS_OF, STATUSES
from pipeline.reporting.build_result import RunFacts, make_result
from pipeline.reporting.sheet_unknown import ANSWER_CHECK
from pipeline.rules.judge import judge
from pipeline.splitting import Judged

#: interface.md, "Reason codes".
CONTRACT = {
    "invalid": "missing_value bad_ticket_no bad_amount bad_date date_in_future bad_choice bad_tax_no bad_email"
    " bad_phone amount_mismatch unknown_buyer",
    "ineligible": "status_conflict ticket_not_used ticket_not_refunded fare_window_closed ancillary_window_closed"
    " flight_too_old_for_itinerary not_an_itinerary_charge not_a_carrier_ticket amount_over_limit voucher_conflict"
    " duplicate_charge code_not_configured",
    "waiting": "ticket_still_open refund_not_approved voucher_reversed",
    "repeated": "repeated_charge",
    "already_issued": "issued_before differs_from_issued issued_elsewhere",
    "rejected": "carrier_rejected",
    "not_sent": "carrier_unreachable carrier_busy key_refused run_stopped in_hand",
    "unknown": "no_answer answer_unreadable answer_unexplained run_killed",
}
#: interface.md, "Row status": the statuses, and which are in Failures.
IN_FAILURES = {
    "ready": False, "issued": False, "already_issued": False, "repeated": False, "invalid": True, "ineligible": True, "waiting": True,
    "rejected": True, "not_sent": True, "unknown": False,
}  # fmt: skip

REFUND = {"charge": "refund", "ticket_status": "refunded", "refund_approved_on": "2026-11-01"}
SEAT = {"charge": "ancillary", "product": "seat", "purchased_on": "2026-11-01"}
NOBODY = dict.fromkeys(("header_type", "header_name", "tax_no", "phone", "email"), "")
PREFIXED = Profile(
    carrier=Carrier(ticket_prefixes=("999", "784")),
    codes=Codes(fee_type={"ticket_fare": "T", "refund": "R", "ancillary": ""}),
)

#: Rows that give rise to each reason, and the facts that its message must say in English.
BY_RULES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "missing_value": ({"passenger_name": ""}, ("passenger_name",)),
    "bad_ticket_no": ({"ticket_no": 991234567890.0}, ("“991234567890”", "leading zero")),
    "bad_amount": ({"amount": "12.345"}, ("“12.345”", "amount")),
    "bad_date": ({"flight_date": "03/04/2026"}, ("“03/04/2026”", "flight_date")),
    "date_in_future": ({"flight_date": "2026-11-21"}, ("flight_date", "2026-11-21", "2026-11-20")),
    "bad_choice": ({"market": "moon"}, ("“moon”", "market", "domestic, international")),
    "bad_tax_no": ({"tax_no": "1234"}, ("“1234”",)),
    "bad_email": ({"email": "finance"}, ("“finance”",)),
    "bad_phone": ({"phone": "12"}, ("“12”",)),
    "amount_mismatch": ({"amount": "1000", "fare": "999"}, ("1,000.00", "999.00")),
    "unknown_buyer": ({**NOBODY, "buyer": "Umbrella"}, ("“Umbrella”",)),
    "ticket_not_used": ({"ticket_status": "refunded"}, ("refunded",)),
    "ticket_not_refunded": ({**REFUND, "ticket_status": "used"}, ("not refunded",)),
    "fare_window_closed": ({"used_on": "2020-02-29"}, ("2021-02-28",)),
    "ancillary_window_closed": ({**SEAT, "purchased_on": "2020-03-01"}, ("2021-03-01",)),
    "flight_too_old_for_itinerary": ({"voucher": "itinerary", "flight_date": "2026-01-01"}, ("2026-06-30",)),
    "not_an_itinerary_charge": ({**REFUND, "voucher": "itinerary"}, ("itinerary",)),
    "not_a_carrier_ticket": ({"ticket_no": "8881234567890"}, ("888", "999, 784")),
    "amount_over_limit": ({"amount": "10000.01"}, ("10,000.01", "domestic", "10,000.00")),
    "code_not_configured": (SEAT, ("“ancillary”", "[codes.fee_type] ancillary")),
    "ticket_still_open": ({"ticket_status": "open"}, ("open",)),
    "refund_not_approved": ({**REFUND, "refund_approved_on": ""}, ("2026-11-20",)),
}
BY_OUTCOMES = (
    "carrier_rejected", "carrier_unreachable", "carrier_busy", "key_refused", "run_stopped", "in_hand", "no_answer",
    "answer_unreadable", "answer_unexplained", "run_killed",
)  # fmt: skip


def _complete(text: str) -> None:
    assert text.strip() == text
    assert text
    assert not set("{}") & set(text)
    assert "  " not in text
    assert "\n" not in text


def test_every_code_of_the_contract_has_its_status_and_there_are_no_others() -> None:
    expected = {code: status for status, codes in CONTRACT.items() for code in codes.split()}
    assert STATUS_OF == expected == {code: STATUS_OF[code] for code in REASON}
    assert len(REASON) == len(REASONS)


def test_the_statuses_are_the_contract_s_in_its_order_and_their_failures_too() -> None:
    assert {status.name: status.failure for status in STATUSES} == IN_FAILURES
    assert list(STATUS) == list(IN_FAILURES)
    assert all(status_word(name, "en") == name for name in STATUS)
    assert len({status_word(name, "zh") for name in STATUS}) == len(STATUS)


def test_invalid_outranks_repeated_and_that_outranks_what_may_not_be_sent() -> None:
    assert sorted(FINDING_RANK, key=lambda name: FINDING_RANK[name]) == [
        "waiting", "ineligible", "repeated", "invalid",
    ]  # fmt: skip


def test_every_reason_that_rules_find_is_shown_here() -> None:
    shown = {
        *BY_RULES,
        *BY_OUTCOMES,
        "duplicate_charge",
        "repeated_charge",
        "status_conflict",
        "voucher_conflict",
        "issued_before",
        "differs_from_issued",
        "issued_elsewhere",
        "voucher_reversed",
    }
    assert shown == set(REASON)


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("code", BY_RULES)
def test_a_rule_s_reason_says_its_facts_in_whole_sentences(
    table_of: Callable[..., Any], as_of: Any, code: str, lang: Any
) -> None:
    cells, facts = BY_RULES[code]
    table, terms = table_of([cells]), Terms(as_of, PREFIXED)
    verdicts = judge(table, KnownCharges(), terms)
    result = make_result(RunFacts("check", terms, lang), Judged(table, KnownCharges(), verdicts, []))
    reasons = [reason for reason in result.rows[0].reasons if reason.code == code]
    assert reasons
    for reason in reasons:
        _complete(reason.message)
        _complete(reason.cure)
    if lang == "en":
        assert all(fact in reasons[0].message for fact in facts)


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("code", BY_OUTCOMES)
def test_an_outcome_s_reason_says_its_detail_even_with_braces_in_it(code: str, lang: Any) -> None:
    reason = reason_text(code, "", lang, {"detail": 'code 500: {"errInfo": "{}"}'})
    if code == "key_refused":
        assert "VOUCHER_API_KEY" in reason.cure
    assert 'code 500: {"errInfo": "{}"}' in reason.message
    _complete(reason.cure)


def _held(**changes: Any) -> KnownCharges:
    identity = Identity("9991234567890", "ticket_fare", "flight")
    about: dict[str, Any] = {
        "identity": identity, "wire": "", "voucher": "invoice", "state": "issued", "number": "123", "amount": 100_000,
        "header_type": "business", "header_name": "Example Trading Co.", "tax_no": "91110000600037341L",
        "request_id": "R1", "attempt": 1, "run": 7, "at": "2026-11-02T16:30:00Z", "reason": "", "detail": "",
        "file": "october.xlsx", "sheet": "Tickets", "row": 12,
    }  # fmt: skip
    return KnownCharges({identity: KnownCharge(**{**about, **changes})})


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize(
    ("code", "rows", "holdings", "facts"),
    [
        ("duplicate_charge", [{}, {"amount": "1"}], KnownCharges(), ("tickets.xlsx{row 2}",)),
        ("repeated_charge", [{}, {}], KnownCharges(), ("tickets.xlsx{row 2}",)),
        ("status_conflict", [REFUND, {}], KnownCharges(), ("tickets.xlsx{row 2}", "tickets.xlsx{row 3}")),
        ("voucher_conflict", [REFUND, {"voucher": "itinerary"}], KnownCharges(), ("tickets.xlsx{row 2}",)),
        ("voucher_conflict", [{"ticket_no": "9990000000001"}, {"voucher": "itinerary"}], _held(), (" 123", "2026-11-03", "october.xlsx")),
        ("issued_before", [{"ticket_no": "9990000000001"}, {}], _held(), ("2026-11-03", "october.xlsx", "123")),
        ("differs_from_issued", [{"ticket_no": "9990000000001"}, {"amount": "1"}], _held(), ("2026-11-03", "october.xlsx", "123", "1,000.00", "1.00")),
        ("no_answer", [{"ticket_no": "9990000000001"}, {}], _held(state="unknown", reason="no_answer", detail="reset"), ("reset", "2026-11-03", "october.xlsx")),
    ],
)  # fmt: skip
def test_a_reason_between_rows_or_with_the_ledger_says_where_the_other_is(
    table_of: Callable[..., Any],
    terms: Terms,
    code: str,
    rows: list[Any],
    holdings: KnownCharges,
    facts: tuple[str, ...],
    lang: Any,
) -> None:
    table = table_of(rows)
    verdicts = judge(table, holdings, terms)
    result = make_result(RunFacts("check", terms, lang), Judged(table, KnownCharges(), verdicts, []))
    (reason,) = [reason for reason in result.rows[1].reasons if reason.code == code]
    _complete(reason.message)
    _complete(reason.cure)
    for number in "23":
        row = {"en": f", Tickets, row {number}", "zh": f"，Tickets 第 {number} 行"}[lang]
        facts = tuple(fact.replace(f"{{row {number}}}", row) for fact in facts)
    assert all(fact in reason.message for fact in facts)


@pytest.mark.parametrize("lang", LANGS)
def test_a_charge_known_from_a_statement_alone_says_its_number(lang: Any) -> None:
    reason = reason_text("issued_elsewhere", "", lang, {"number": "123456"})
    _complete(reason.message)
    assert "123456" in reason.message


@pytest.mark.parametrize("lang", LANGS)
def test_a_hint_says_more_exactly_what_was_seen(lang: Any) -> None:
    hints = ("", "lost_zero", "spoilt_number")
    said = [
        reason_text("bad_ticket_no", "ticket_no", lang, {"seen": "12", "hint": hint}).message
        for hint in hints
    ]
    for message in said:
        _complete(message)
        assert message.startswith(said[0])
    assert len({*said}) == len(hints)


def test_chinese_texts_say_columns_and_choices_in_chinese() -> None:
    reason = reason_text(
        "bad_choice",
        "market",
        "zh",
        {"seen": "moon", "choices": terms(["domestic", "international"], "choice")},
    )
    assert heading("market", "zh") in reason.message
    assert "国内、国际" in reason.message
    assert "domestic" not in reason.message
    assert "国内、国际" in reason.cure


#: Every text that a finance person reads about a row: (what it is, English, Chinese).
TEXTS = [
    *(
        (f"{reason.code}: {what}", text, translated(text, "zh"))
        for reason in (*REASONS, *HINTS.values())
        for what, text in (("message", reason.text), ("cure", reason.cure))
    ),
    *(
        (f"{status.name}: {what}", text, translated(text, "zh"))
        for status in STATUSES
        for what, text in (("meaning", status.meaning), ("advice", status.advice), ("step", status.step))
        if text
    ),
    *((f"answer: {what}", str(told), rendered(told, "zh")) for what, told in ANSWER_CHECK.items()),
]
#: Names that stay as they are in Chinese: sheets, commands, options, settings, and words that are read back.
NAMES = re.compile(
    r"\{[a-z_]+\}|--?[a-z-]+|\[headings\]|\"other_taxes\"|“?voucher( [a-z]+)*”?|VOUCHER_API_KEY|\.?xlsx|\b(Unknown|Failures|Rows|agency|not issued|issued|differs_from_issued|Buyers"
    r"|name@company\.com|UTF|CNY|Excel|LibreOffice|Ctrl|Shift|O|I|l|XX?)\b"
)
#: Words of the trade of programs, which a finance person should never have to know.
JARGON = re.compile(
    r"\b(null|nan|parse|parsing|parsed|schema|enum|boolean|string|integer|float|regex|exception|traceback|stack|index|dataframe"
    r"|payload|endpoint|envelope|timeout|token|field|invalid value|unsupported|encoding|normali[sz]ed|validation|mapping|hash)\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize(("what", "en", "zh"), TEXTS, ids=[text[0] for text in TEXTS])
def test_every_text_is_plain_and_whole_in_both_languages(what: str, en: str, zh: str) -> None:
    assert len(en) > 8
    assert len(zh) > 3
    assert JARGON.findall(en) == [], what
    assert re.findall("[A-Za-z]{2,}", NAMES.sub("", zh)) == [], what
    assert not re.search("[\u3000-\u9fff]", en), what
    if what.endswith((": message", ": cure")) and not en.endswith("}"):
        assert en.strip()[-1] in ".”…", what
        assert zh.strip()[-1] in "。”…", what


@pytest.mark.parametrize("reason", [*REASONS, *HINTS.values()], ids=lambda reason: reason.code)
def test_a_reason_names_what_was_seen_and_its_cure_says_something_to_do(reason: Reason) -> None:
    assert reason.text != reason.cure
    # A rule about a whole row names the ticket, the charge or what the carrier said; about a cell, the column or what is in it.
    assert "{" in reason.text or re.search("ticket|charge|fare|refund|itinerary", reason.text, re.IGNORECASE)
    assert re.search(
        r"\b(correct|enter|fill in|choose|compare|ask|set|keep|issue|run|check|do not|nothing|give|mend|open|save|split|write|delete)\b",
        reason.cure,
        re.IGNORECASE,
    )
    assert re.search("请|无需|无法", translated(reason.cure, "zh"))

"""The fields of an itinerary as each source in the file gives them: the embedded XBRL, the tags, the page.

Where the names come from: XBRL is the ministry's taxonomy (itinerary-files.md). Of tags and pages no airline's file was to be had: the
names are those of other e-invoices' tags, the labels those of the printed form, so what is not found in them is no finding.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from pipeline.itinerary_files import field_values
from pipeline.itinerary_files.bounded_xml import Element
from pipeline.itinerary_files.field_values import Value
from pipeline.itinerary_files.page_text import PageText
from pipeline.itinerary_files.read_reasons import Found, Reason, found, unreadable
from pipeline.model.itinerary_file import FieldSource

#: What reads a field's text: None, or nothing, for what is not understood.
READERS: Mapping[str, Callable[[str], Value | None]] = {
    "number": field_values.number,
    "tickets": field_values.tickets,
    "buyer_name": field_values.name,
    "buyer_tax_no": field_values.tax_no,
    "fare": field_values.money,
    "fuel": field_values.money,
    "vat": field_values.money,
    "fund": field_values.money,
    "other_taxes": field_values.money,
    "total": field_values.money,
    "net": field_values.money,
    "issued_on": field_values.day,
    "red_of": field_values.number,
}
AMOUNTS = tuple(name for name, reader in READERS.items() if reader is field_values.money)

#: The last segment of the namespace of the ministry's taxonomy for itineraries; the days before it change.
_TAXONOMY = "atr"
XBRL_NAMES = {
    "ElectronicInvoiceAirTransportReceiptNumber": "number",
    "ETicketNumber": "tickets",
    "NameOfPurchaser": "buyer_name",
    "UnifiedSocialCreditCodeOfPurchaser": "buyer_tax_no",
    "Fare": "fare",
    "FuelSurcharge": "fuel",
    "VatTaxAmount": "vat",
    "CivilAviationDevelopmentFund": "fund",
    "OtherTaxes": "other_taxes",
    "TotalAmount": "total",
    "IssueDate": "issued_on",
    "OriginalElectronicInvoiceAirTransportReceiptNumber": "red_of",
}
#: 合计金额 of real tags is without VAT.
_TAG_NAMES = XBRL_NAMES | {
    "InvoiceNo": "number",
    "InvoiceNumber": "number",
    "发票号码": "number",
    "电子客票号码": "tickets",
    "电子客票号": "tickets",
    "BuyerName": "buyer_name",
    "购买方名称": "buyer_name",
    "BuyerTaxID": "buyer_tax_no",
    "BuyerIdNum": "buyer_tax_no",
    "购买方纳税人识别号": "buyer_tax_no",
    "购买方统一社会信用代码": "buyer_tax_no",
    "票价": "fare",
    "燃油附加费": "fuel",
    "增值税税额": "vat",
    "合计税额": "vat",
    "TaxTotalAmount": "vat",
    "TotalTaxAm": "vat",
    "民航发展基金": "fund",
    "其他税费": "other_taxes",
    "价税合计": "total",
    "合计": "total",
    "TaxInclusiveTotalAmount": "total",
    "TotalTax-includedAmount": "total",
    "合计金额": "net",
    "TaxExclusiveTotalAmount": "net",
    "TotalAmWithoutTax": "net",
    "IssueTime": "issued_on",
    "填开日期": "issued_on",
    "开票日期": "issued_on",
}
#: Of one file. A conjunction set has four tickets at most in practice.
MOST_TICKETS = 100
#: A namespace; the ministry's have some 50 characters.
_LONGEST_SPACE = 1_000
#: What stands before a field on the printed form, and after it.
_BLANKS = r"[ \t]*"
_LABELS = {
    "number": "发票号码",
    "tickets": "电子客票号码?",
    "buyer_name": "购买方名称",
    "buyer_tax_no": "统一社会信用代码(?:/纳税人识别号)?",
    "issued_on": "(?:填开|开票)日期",
    "red_of": "被红冲(?:蓝字)?[^:\n]{0,20}号码",
}
_AMOUNT_LABELS = {
    "fare": "票价",
    "fuel": "燃油附加费",
    "vat": "增值税税额",
    "fund": "民航发展基金",
    "other_taxes": "其他税费",
    "total": "合计",
}
_ANY_LABEL = "|".join(
    (*_LABELS.values(), "验证码", "提示信息", "保险费", "销售网点代号", "填开单位", "旅客姓名")
)
#: A value ends with its line, before a label that is known, or before a blank and any other word with a colon.
_END = rf"(?=\n|$|(?:{_ANY_LABEL}){_BLANKS}:|[ \t]+[^\s:]{{1,40}}{_BLANKS}:)"
_LABELLED = {
    name: re.compile(rf"{label}{_BLANKS}:{_BLANKS}([^\n]{{1,200}}?){_BLANKS}{_END}")
    for name, label in _LABELS.items()
}
_TITLE = "行程单"
_MONEY = re.compile(r"-?\d[\d,]{0,14}\.\d{2}(?!\d)")
#: Texts that one tag may refer to.
_MOST_REFERRED = 20


@dataclass
class SourceFields:
    """What one source says: the first value of each field, other values of the same field, and what was not understood."""

    source: FieldSource
    values: dict[str, Value] = field(default_factory=dict)
    others: list[tuple[str, Value]] = field(default_factory=list)
    notes: list[Found] = field(default_factory=list)

    def take(self, name: str, text: str) -> None:
        """One more text of a field. Raises Refused where it has too many tickets."""
        if not text:
            return
        value = READERS[name](text)
        if value is None or value == ():
            if self.source is FieldSource.PAGE:  # what stands behind a label there is a guess
                return
            facts = {"field": name, "one": field_values.normal(text)[:100], "source": self.source}
            self.notes.append(found(Reason.NOT_UNDERSTOOD, **facts))
        elif name == "tickets" and isinstance(value, tuple):
            before = self.values.get(name, ())
            assert isinstance(before, tuple)  # noqa: S101 - this is where it comes from
            all_of_them = tuple(dict.fromkeys(before + value))
            if len(all_of_them) > MOST_TICKETS:
                raise unreadable(Reason.TICKETS, count=MOST_TICKETS)
            self.values[name] = all_of_them
        elif self.values.setdefault(name, value) != value:
            self.others.append((name, value))


def is_itinerary_xbrl(root: Element) -> bool:
    """Whether a document holds facts of the taxonomy for itineraries."""
    return any(_of_taxonomy(element) for element in root.all())


def _of_taxonomy(element: Element) -> bool:
    return len(element.space) <= _LONGEST_SPACE and element.space.rstrip("/").rpartition("/")[2] == _TAXONOMY


def xbrl_fields(documents: Iterable[Element]) -> SourceFields:
    """The fields of the embedded XBRL; of several documents, all together."""
    fields = SourceFields(FieldSource.XBRL)
    for document in documents:
        for element in document.all():
            if element.name in XBRL_NAMES and _of_taxonomy(element):
                fields.take(XBRL_NAMES[element.name], element.text)
    return fields


def tag_fields(documents: Iterable[Element], texts: Mapping[str, str]) -> SourceFields:
    """The fields of the tags, whose values stand in them, or are those of texts of the page, by their IDs.

    One yuan sign alone is what some writers refer to: it is passed over.
    """
    fields = SourceFields(FieldSource.CUSTOM_TAG)
    for document in documents:
        for element in document.all():
            if name := _TAG_NAMES.get(element.name):
                referred = islice(element.all("ObjectRef"), _MOST_REFERRED)
                text = element.text or "".join(texts.get(each.text, "") for each in referred)
                if text.strip("¥￥ "):
                    fields.take(name, text)
    return fields


def page_fields(page: PageText) -> SourceFields:
    """The fields that stand behind their labels on the page, and amounts behind or below theirs."""
    fields = SourceFields(FieldSource.PAGE)
    text = page.text
    for name, pattern in _LABELLED.items():
        if (hit := pattern.search(text)) and "*" not in hit[1]:
            fields.take(name, hit[1])
    for name, label in _AMOUNT_LABELS.items():
        behind = re.search(rf"(?<!\w){label}{_BLANKS}:?{_BLANKS}(?:CNY|¥)?{_BLANKS}({_MONEY.pattern})", text)
        if amount := behind[1] if behind else page.below(label, _MONEY):
            fields.take(name, amount)
    return fields


def names_itinerary(page: PageText, tags: SourceFields) -> bool:
    """Whether a file without XBRL is an itinerary: its page says so, or its tags have a ticket's number."""
    return _TITLE in page.text.replace(" ", "") or "tickets" in tags.values


def stands_on(page: PageText, name: str, value: Value) -> bool:
    """Whether a value stands anywhere on the page, however it is written and whatever stands before it."""
    text = page.text
    if name in AMOUNTS:
        return value in [field_values.money(one) for one in _MONEY.findall(text)]
    if name == "issued_on":
        written = re.findall(r"\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}", text)
        return value in [field_values.day(one) for one in written]
    bare = re.sub(r"[\s-]", "", text).casefold()
    wanted: Sequence[object] = value if isinstance(value, tuple) else (value,)
    return all(re.sub(r"[\s-]", "", field_values.alike(str(one))) in bare for one in wanted[:1])

"""A register of a charge or two, and how its workbook is read back."""

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl

from pipeline.model.message import message, to_text
from pipeline.model.profile import Owner
from pipeline.model.register_line import RegisterLine
from pipeline.reporting.register_by_buyer import buyer_numbers
from pipeline.reporting.register_masking import Masks, NoMasks, secrets_of
from pipeline.reporting.register_values import Register
from pipeline.reporting.register_workbook import write_register

AT = datetime.datetime.fromisoformat("2026-10-31T23:59:59")
ONE = RegisterLine(
    "26110000000000000001", "invoice", "9990000000001", "ticket_fare", "flight", "ZHANG/WEI MR", "Acme", "91110000600037341L",
    "13800138000", "a@example.com", '{"fare": 90000, "airport_fee": 5000}', '{"Cost Centre": "C1", "state": "=1+1"}', 95000, AT, 1,
    "october.xlsx", "Tickets", 2, "issued", "", "R1", elsewhere=False,
)  # fmt: skip
SEEN = ONE._replace(
    number="77", buyer="Acme", tax_no="", phone="", email="", passenger_name="", components="{}", carried="{}", amount=None,
    issued=AT.date(), file=to_text(message("{file}, row {row}", file="s.csv", row=7)), sheet="", row=0, request="", elsewhere=True,
)  # fmt: skip


def made(lines: Sequence[RegisterLine], masked: bool = False, **changes: Any) -> Register:
    written = datetime.datetime(2026, 11, 2, 9, 0, tzinfo=datetime.UTC)
    masks = Masks(secrets_of(lines)) if masked else NoMasks()
    given = {"days": None, "undated": 0, "gap": "", **changes}
    return Register(
        lines, buyer_numbers(lines), carrier=Owner("https://carrier.example", "A"), time_zone="Asia/Shanghai", currency="CNY", written=written,
        masks=masks, **given,
    )  # fmt: skip


def written(tmp_path: Path, register: Register, lang: Any = "en") -> Any:
    return openpyxl.load_workbook(write_register(register, tmp_path / "r.xlsx", lang))


def table(sheet: Any) -> list[dict[str, Any]]:
    headings, *lines = sheet.iter_rows(values_only=True)
    return [dict(zip(headings, line, strict=True)) for line in lines]

"""A masked register names nobody, wherever a name may stand."""

import json
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pipeline.messages.translate import heading
from pipeline.reporting.register_workbook import write_register
from tests.unit.reporting.registers import ONE, SEEN, made, table


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_masked_no_part_of_the_file_names_anybody(tmp_path: Path, lang: Any) -> None:
    carried = {
        "部门": "Team of Wei Zhang",
        "成本中心": "Acme 13800138000",
        "contact": "Chen",
        "Phone": "13911139111",
    }
    line = ONE._replace(
        carried=json.dumps(carried, ensure_ascii=False), file="Acme october.xlsx", sheet="ACME"
    )
    path = write_register(made([line, SEEN], masked=True, of_buyer=1), tmp_path / "r.xlsx", lang)
    with zipfile.ZipFile(path) as package:
        text = "\n".join(package.read(name).decode() for name in package.namelist()).casefold()
    secret = [
        "acme",
        "zhang",
        "wei",
        "91110000600037341",
        "13800138000",
        "example.com",
        "chen",
        "13911139111",
        "s.csv",
    ]
    assert [word for word in secret if word in text] == []
    first, second = table(openpyxl.load_workbook(path)["Register"])
    assert first["buyer" if lang == "en" else "购买方"] == "A*** #1"
    assert first["department" if lang == "en" else "部门"] == "Team of ***"
    assert [line[heading("file", lang)] for line in (first, second)] == (
        ["file 1", "file 2"] if lang == "en" else ["文件 1", "文件 2"]
    )

"""Files that are brought as evidence: what they are shows from what is in them, whatever they are called."""

from pathlib import Path

import pytest

from pipeline.model.errors import InputProblem
from pipeline.run.evidence_files import told_apart
from tests.unit.reconciliation.desk import answers_file, line, statement_file, workbook
from tests.unit.run.runs import fares
from tests.unit.run.test_reconcile import answer, doubtful


def test_a_statement_and_a_workbook_with_answers_are_told_apart(desk: Path, tmp_path: Path) -> None:
    listed = statement_file(desk / "a.csv", line(1, "2" * 20))
    answered = answers_file(desk / "b.xlsx", answer(doubtful(tmp_path / "a.ledger"), 2))
    assert told_apart([answered, listed]) == ([listed], [answered], [])


def test_tickets_are_refused_with_where_they_belong(desk: Path) -> None:
    with pytest.raises(InputProblem, match=r"^a\.xlsx: is neither"):
        told_apart([workbook(desk / "a.xlsx", *fares(1))])


def test_a_statement_that_names_passengers_is_brought_as_evidence_too(tmp_path: Path) -> None:
    listed = tmp_path / "s.csv"
    rows = ("票号,发票号码,开票日期,旅客姓名", "9991234567890,179525952880229397,2026-10-05,张三")
    listed.write_text("\n".join(rows), encoding="utf-8")
    assert told_apart([listed]) == ([listed], [], [])

"""What a defect leaves on stderr."""

import pytest

from pipeline.page.defects import log_defect


def _fails(cell: str) -> None:
    try:
        _: int = {}[cell]
    except KeyError as error:
        raise ValueError(f"no such cell: {cell}") from error


def test_it_is_found_by_its_number_and_names_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="no such cell") as raised:
        _fails("ZHANG/WEI")
    number = log_defect(raised.value)
    told = capsys.readouterr().err
    assert f"voucher serve: defect {number}\n" in told
    assert "builtins.ValueError" in told
    assert "builtins.KeyError" in told
    assert "test_defects.py" in told
    assert "_fails" in told
    assert "ZHANG/WEI" not in told.replace('_fails("ZHANG/WEI")', "")  # that is a line of this test's code

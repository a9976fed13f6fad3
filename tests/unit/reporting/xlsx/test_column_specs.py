"""How high a text is in its column: none of its lines is hidden by the row below."""

import pytest

from pipeline.reporting.xlsx.column_specs import lines_of

CODES = "I2：承运人配置中没有费用类型“机票款”的代码（[codes.fee_type] ticket_fare），无法发送。 [code_not_configured]"


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("ready", 15, 1),
        ("已开具", 15, 1),
        ("word " * 30, 50, 3),
        ("票" * 60, 40, 3),
        (CODES, 54, 3),  # as spreadsheet programs break it: no code within itself
        (f"票号不是 13 位数字\n{CODES}", 54, 4),
        ("[a-name-that-is-longer-than-its-column]是代码", 20, 3),
        (
            "9991000218193, 9991000003064, 9991000175323, 9991000191953, 9991000194086",
            40,
            3,
        ),  # two stand on a line
        ("invoices@buyer7.example.com", 26, 2),
        ("The carrier refused it: A feeType is not known. [carrier_rejected]", 62, 1),
    ],
)
def test_a_text_has_the_height_of_its_lines_and_hardly_more(text: str, width: int, shown: int) -> None:
    assert shown <= lines_of(text, width) <= 1.1 * shown + 0.001


def test_however_much_there_is_to_say_a_row_stays_on_its_page() -> None:
    assert lines_of("票 " * 40_000, 10) <= 1.1 * 12

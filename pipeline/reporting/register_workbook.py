"""The register of vouchers (开票清单) as a workbook: Summary, one line a charge, totals by buyer and by cost centre."""

from pathlib import Path

from pipeline.model.columns import Lang
from pipeline.reporting.register_values import Register
from pipeline.reporting.result_workbook import write_book
from pipeline.reporting.sheet_register import add_lines
from pipeline.reporting.sheet_register_summary import add_summary
from pipeline.reporting.sheet_register_totals import add_totals, by_buyer, by_cost_centre
from pipeline.reporting.words_register import label
from pipeline.reporting.xlsx.book import Book, Cover

#: The same names in every language, because people and programs find them by name.
SHEETS = ("Summary", "Register", "By buyer", "By cost centre")


def write_register(register: Register, path: Path, lang: Lang) -> Path:
    """Write the register; give the path that it has, which is another where `path` was taken.

    Raises Stop where it can't be written; nothing is left behind then.
    """

    def fill(book: Book) -> None:
        add_summary(book, register)
        add_lines(book, register)
        add_totals(book, register, "By buyer", by_buyer(register, lang))
        add_totals(book, register, "By cost centre", by_cost_centre(register, lang))

    return write_book(path, Cover(label("title", lang), lang, register.carrier.is_sandbox), SHEETS, fill)

"""Files that several people upload to one month at once, or while it is being sent."""

import re
import threading
from pathlib import Path

import pytest

from pipeline.page import month_uploads, months, view_reconcile
from pipeline.page.month_files import Form
from pipeline.page.months import Overtaken
from pipeline.page.page_database import transaction


def _form(folder: Path, name: str, text: str) -> Form:
    folder.mkdir(parents=True)
    file = folder / "1"
    file.write_text(text)
    return Form(folder, {}, {name: file})


def test_what_several_people_upload_at_once_under_one_name_is_all_kept(tmp_path: Path) -> None:
    month = months.begin(tmp_path, "peter", "November")
    forms = [_form(tmp_path / f"coming{at}", "may.xlsx", f"text {at}") for at in range(8)]
    together, failed = threading.Barrier(len(forms)), list[BaseException]()

    def upload(form: Form) -> None:
        together.wait()
        try:
            form.keep(tmp_path, month, "workbook", "peter")
        except BaseException as error:  # noqa: BLE001 - told below
            failed.append(error)

    threads = [threading.Thread(target=upload, args=(form,)) for form in forms]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    kept = month_uploads.uploads(tmp_path, month)
    folder = months.folder_of(tmp_path, month)
    assert {one.path(folder).read_text() for one in kept} == {f"text {at}" for at in range(8)}
    assert len({one.name for one in kept}) == len({one.number for one in kept}) == 8


def test_a_number_is_given_once_though_its_file_was_taken_out(tmp_path: Path) -> None:
    month = months.begin(tmp_path, "peter", "November")
    for text in ("first", "second"):
        _form(tmp_path / text, "may.xlsx", text).keep(tmp_path, month, "workbook", "peter")
        (one,) = month_uploads.uploads(tmp_path, month)
        month_uploads.take_out(tmp_path, month, one.number, "peter")
    lie = sorted(months.folder_of(tmp_path, month).glob("uploads/*/*"))
    assert [path.read_text() for path in lie] == ["first", "second"]


@pytest.mark.parametrize("kind", ["workbook", "buyers", "new"])
def test_what_comes_while_a_month_is_being_sent_leaves_no_file(tmp_path: Path, kind: str) -> None:
    month = months.begin(tmp_path, "peter", "November")
    with transaction(tmp_path) as connection:
        connection.execute(
            "INSERT INTO work (month, kind, asked, by, begun_at) VALUES (?, 'send', '{}', 'anna', 0)",
            (month,),
        )
    form = _form(tmp_path / "coming", "may.xlsx", "text")
    with pytest.raises(Overtaken):
        form.keep(tmp_path, month, kind, "peter")
    assert [*months.folder_of(tmp_path, month).glob("uploads/*")] == []
    assert month_uploads.uploads(tmp_path, month) == []


@pytest.mark.parametrize("month", ["2026-13", "2026-00", "2026-1", "1926-10"])
def test_what_is_no_month_is_refused_by_the_form(month: str) -> None:
    assert re.search("A month is written like", str(view_reconcile._wrong({"month": month})))

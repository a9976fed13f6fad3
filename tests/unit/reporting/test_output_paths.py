"""Where results go: beside the input, never over anything, refused before anything is sent."""

from pathlib import Path

import pytest

from pipeline.model.errors import InputProblem
from pipeline.reporting import output_paths
from pipeline.reporting.output_paths import check_report_path, file_name, result_path


@pytest.mark.parametrize(
    ("there", "output", "first", "chosen"),
    [
        ([], None, "a.xlsx", "a.result.xlsx"),
        ([], None, "a.b.csv", "a.b.result.xlsx"),
        (["a.result.xlsx"], None, "a.xlsx", "a.2.result.xlsx"),
        (["a.result.xlsx", "a.2.result.xlsx"], None, "a.xlsx", "a.3.result.xlsx"),
        (["a.result.xlsx"], None, "a.result.xlsx", "a.2.result.xlsx"),
        (["a.RESULT.xlsx"], None, "a.RESULT.xlsx", "a.2.RESULT.xlsx"),
        (["a.result.xlsx", "a.2.result.xlsx"], None, "a.2.result.xlsx", "a.3.result.xlsx"),
        (["a.2026.result.xlsx"], None, "a.2026.result.xlsx", "a.2026.2.result.xlsx"),
        ([], "out.xlsx", "a.xlsx", "out.xlsx"),
        (["o.reconciliation.xlsx"], "o.reconciliation.xlsx", "a.xlsx", "o.2.reconciliation.xlsx"),
        (["out.xlsx"], "out.xlsx", "a.xlsx", "out.2.xlsx"),
        (["out.result.xlsx"], "out.result.xlsx", "a.xlsx", "out.2.result.xlsx"),
        (["a.xlsx"], "a.xlsx", "a.xlsx", "a.2.xlsx"),
    ],
)
def test_a_free_name_is_chosen(
    there: list[str], output: str | None, first: str, chosen: str, tmp_path: Path
) -> None:
    for name in there:
        (tmp_path / name).touch()
    wanted = tmp_path / output if output else None
    assert result_path(wanted, tmp_path / first) == tmp_path / chosen


def test_a_link_that_leads_nowhere_is_taken(tmp_path: Path) -> None:
    (tmp_path / "a.result.xlsx").symlink_to(tmp_path / "gone.xlsx")
    assert result_path(None, tmp_path / "a.xlsx").name == "a.2.result.xlsx"


def test_another_type_of_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputProblem, match=r"out\.csv: .*ends in \.xlsx"):
        result_path(tmp_path / "out.csv", tmp_path / "a.xlsx")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputProblem, match=r"there is no folder .*gone; create it"):
        result_path(tmp_path / "gone" / "out.xlsx", tmp_path / "a.xlsx")
    with pytest.raises(InputProblem, match=r"there is no folder .*gone; create it"):
        check_report_path(tmp_path / "gone" / "out.json")


def test_a_folder_that_takes_no_file_is_named_with_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(output_paths, "scratch_folder", refuse)
    with pytest.raises(
        InputProblem, match=r"a\.result\.xlsx: can't be written \(Permission denied\); .* with -o"
    ):
        result_path(None, tmp_path / "a.xlsx")


def test_a_name_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputProblem, match="can't be written"):
        result_path(None, tmp_path / f"{'a' * 250}.xlsx")


def test_checking_leaves_nothing_behind(tmp_path: Path) -> None:
    check_report_path(tmp_path / "r.json")
    result_path(None, tmp_path / "a.xlsx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["tickets.xlsx", "tickets.CSV"])
def test_a_report_never_replaces_a_workbook(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputProblem, match=r"ends in \.json"):
        check_report_path(tmp_path / name)


def test_a_report_replaces_files_only(tmp_path: Path) -> None:
    (tmp_path / "r.json").mkdir()
    with pytest.raises(InputProblem, match="is not a file"):
        check_report_path(tmp_path / "r.json")
    with pytest.raises(InputProblem, match="is not a file"):
        check_report_path(Path("/dev/null"))


@pytest.mark.parametrize("name", ["..", "", " . ", "\u202e", "\ud800"])
def test_of_some_names_nothing_is_left_for_a_file(name: str) -> None:
    assert file_name(name).strip("_") == ""

"""A line on stderr: short enough to be read, and with its paths as long as they fit."""

from pathlib import Path

import pytest

from pipeline.cli.stderr import say


def said(capsys: pytest.CaptureFixture[str], text: str) -> str:
    say(text)
    return capsys.readouterr().err.removesuffix("\n")


def test_a_long_line_names_paths_from_the_working_folder_and_from_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    work, home = tmp_path / ("w" * 100), tmp_path / ("h" * 100)
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(home))
    sentence = "what is said of both " * 10
    line = f"{work}/in/a.ledger: {sentence}: {home}/.local/b.ledger"
    assert said(capsys, line) == f"in/a.ledger: {sentence}: ~/.local/b.ledger"
    assert said(capsys, f"{work}/in/a.ledger: short") == f"{work}/in/a.ledger: short"


def test_where_that_is_not_enough_folders_go_before_words_do(capsys: pytest.CaptureFixture[str]) -> None:
    folders = "/".join(["", *["folder" * 5] * 9])
    sentence = "word " * 60
    assert said(capsys, f"{folders}/month.xlsx: {sentence}.") == f"…/month.xlsx: {sentence}."
    cut = said(capsys, f"{folders}/month.xlsx: {sentence * 2} the cure")
    assert len(cut) == 400
    assert cut.startswith("…/month.xlsx: word ")
    assert cut.endswith(" the cure")

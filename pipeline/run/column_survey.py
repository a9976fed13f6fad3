"""`voucher columns`: what workbooks are read as; the reader is asked, and the rules say what it lacks. No ledger is looked at."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from pipeline.file_writing import PRIVATE, appear, scratch_folder, sync
from pipeline.model.errors import InputProblem
from pipeline.model.job import Job
from pipeline.model.known_charges import KnownCharges
from pipeline.model.message import Fact, Message, Private, counted, message, system_error
from pipeline.model.places import on_sheet
from pipeline.model.survey import Answer, Entry, Lack, Question, SheetUse, Survey
from pipeline.model.table import Table
from pipeline.reading.columns_file import load_map, with_entries
from pipeline.reading.columns_file_questions import entries, questions
from pipeline.reading.heading_meanings import BUYER_NAMES
from pipeline.reading.input_files import read_sheets, workbook_files
from pipeline.reading.sheet_survey import survey_file
from pipeline.reading.tickets import assemble, file_names
from pipeline.reporting.output_paths import ANOTHER_FOLDER
from pipeline.rules.judge import Verdicts, judge

#: Reasons that say that a row lacks something, and those that what it has can't be read.
_MISSING = ("missing_value", "refund_not_approved")
_UNREADABLE = ("bad_ticket_no", "bad_amount", "bad_date")


def surveyed(job: Job, said: Sequence[Entry] = ()) -> Survey:
    """What the job's workbooks are read as, with these lines in its mapping too. Raises InputProblem for files that can't be
    opened or hold nothing.
    """
    mapping, currency = with_entries(load_map(job.columns), said), job.profile.carrier.currency
    workbooks = [(path, read_sheets(path, mapping.knows)) for path in workbook_files(job.inputs)]
    names = file_names(workbooks)
    uses = [
        use for path, sheets in workbooks for use in survey_file(path, names[path], sheets, mapping, currency)
    ]
    problems, of_totals = list[Message](), list[Question]()
    if not any(use.use == "unreadable" for use in uses):
        try:
            table = assemble(workbooks, job.buyers, mapping, currency)
        except InputProblem as problem:
            problems.append(problem.message)
        else:
            verdicts = judge(table, KnownCharges(), job.terms)
            uses = _with_notes(uses, table)
            unread = _unread(table, verdicts)
            uses = _with_unread(_with_lacks(uses, table, verdicts), unread)
            of_totals += _about_totals(unread)
    return Survey(uses, problems, [*questions(uses), *of_totals], entries(uses, mapping))


def _with_notes(uses: Sequence[SheetUse], table: Table) -> list[SheetUse]:
    """The sheets with what is seen only once all their rows are read together, such as refund lines."""
    told = defaultdict[Fact, list[Message]](list)
    for note in table.notes:
        told[note.facts.get("place", "")].append(note)
    return [
        replace(use, notes=tuple(dict.fromkeys((*use.notes, *told[on_sheet(use.file, use.sheet)]))))
        for use in uses
    ]


def _with_lacks(uses: Sequence[SheetUse], table: Table, verdicts: Verdicts) -> list[SheetUse]:
    """The sheets with what their rows lack."""
    lines: defaultdict[tuple[str, str, str, str], set[int]] = defaultdict(set)
    for kind, column, line in _lacking(table, verdicts):
        file, sheet, row = (table.frame[name].iloc[line] for name in ("file", "sheet", "row"))
        lines[file, sheet, kind, column].add(int(row))
    found: defaultdict[tuple[str, str], list[Lack]] = defaultdict(list)
    for (file, sheet, kind, column), rows in lines.items():
        found[file, sheet].append(
            Lack(column, len(rows), min(rows), "missing" if kind == "missing" else "unreadable")
        )
    return [replace(use, lacks=tuple(found.get((use.file, use.sheet), ()))) for use in uses]


def _unread(table: Table, verdicts: Verdicts) -> Counter[tuple[str, str, Private, Private]]:
    """(file, sheet, heading of the total, heading of what is not read) of rows whose total is off by exactly that."""
    rows: Counter[tuple[str, str, Private, Private]] = Counter()
    for finding in verdicts.findings:
        if finding.code != "amount_mismatch" or "unread" not in finding.facts:
            continue
        lines, first = np.unique(verdicts.rows.line[finding.rows], return_index=True)
        for line, at in zip(lines.tolist(), first.tolist(), strict=True):
            total, unread = finding.fact("total", at), finding.fact("unread", at)
            if isinstance(total, Private) and isinstance(unread, Private):
                file, sheet = (table.frame[name].iloc[line] for name in ("file", "sheet"))
                rows[file, sheet, total, unread] += 1
    return rows


def _with_unread(
    uses: Sequence[SheetUse], rows: Mapping[tuple[str, str, Private, Private], int]
) -> list[SheetUse]:
    """The sheets with what is to be told of totals that are off by exactly one column that is not read."""
    notes: defaultdict[tuple[str, str], list[Message]] = defaultdict(list)
    for (file, sheet, total, unread), count in rows.items():
        notes[file, sheet].append(
            counted(
                '“{total}” has “{unread}” in it in {count} row, which is not read; "{total}" = "" in --columns leaves the total unread',
                '“{total}” has “{unread}” in it in {count} rows, which is not read; "{total}" = "" in --columns leaves the total unread',
                count,
                total=total,
                unread=unread,
            )
        )
    return [replace(use, notes=(*use.notes, *notes[use.file, use.sheet])) for use in uses]


def _about_totals(rows: Iterable[tuple[str, str, Private, Private]]) -> Iterator[Question]:
    """Whether totals that are off by a column that is not read are to be left unread, too: the vouchers are then of their components."""
    for total, unread in dict.fromkeys((total, unread) for _, _, total, unread in rows):
        left = message(
            "“{total}” is left unread: vouchers are issued for the components, without “{unread}”",
            total=total, unread=unread,
        )  # fmt: skip
        yield Question(
            message(
                "“{total}” has “{unread}” in it, which is not read. What is to be issued?",
                total=total,
                unread=unread,
            ),
            (Answer(left, (Entry(("headings",), total.text, ""),)),),
        )


def _lacking(table: Table, verdicts: Verdicts) -> Iterator[tuple[str, str, int]]:
    """(missing or unreadable, column, row of the table) of every row that lacks something; a buyer's columns are one."""
    approved = table.frame["refund_approved_on"].isna().to_numpy()
    for finding in verdicts.findings:
        kind = "missing" if finding.code in _MISSING else "unreadable" if finding.code in _UNREADABLE else ""
        column = "buyer" if finding.column in BUYER_NAMES else finding.column
        for line in np.unique(verdicts.rows.line[finding.rows]).tolist() if kind else ():
            if finding.code != "refund_not_approved" or approved[line]:
                yield kind, column, line


def write_mapping(text: str, path: Path, *, replacing: bool = False) -> None:
    """Write a mapping, whole or not at all, never over a file unless it is `replacing` one. Raises InputProblem where it can't be written."""
    try:
        with scratch_folder(path.parent) as folder:
            finished = folder / "map.toml"
            finished.write_text(text, encoding="utf-8")
            load_map(finished)  # what is written can be read back
            finished.chmod(PRIVATE)
            sync(finished)
            if replacing:
                finished.replace(path)
            else:
                appear(finished, path)
    except OSError as problem:
        raise InputProblem(
            "{file}: can't be written ({problem}); {cure}",
            file=str(path), problem=system_error(problem), cure=ANOTHER_FOLDER,
        ) from problem  # fmt: skip

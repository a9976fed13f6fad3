"""Files dropped onto a month, told apart by what is in them: tickets for its rows, and evidence, which is reconciled with.

Evidence are also itinerary files, which are collected.
"""

from dataclasses import replace

from pipeline.page import month_uploads, months, work
from pipeline.page.month_files import is_workbook
from pipeline.page.month_uploads import Upload
from pipeline.page.serve_settings import ServeSettings
from pipeline.page.work_task import WorkTask
from pipeline.run.evidence_files import kind_for_month


def tell_apart(task: WorkTask) -> None:
    """Find out what each of a month's new uploads is; where whoever brought evidence may reconcile, that is begun."""
    for upload in month_uploads.uploads(task.folder, task.month, "new"):
        kind = kind_for_month(upload.path(task.month_folder)) if is_workbook(upload.name) else "itineraries"
        told = month_uploads.told_apart(task.folder, task.month, upload, kind)
        if told and kind in month_uploads.EVIDENCE and upload.reconcile_in:
            reconcile(task.settings, task.month, replace(upload, kind=kind), upload.by)


def reconcile(settings: ServeSettings, month: str, upload: Upload, by: str) -> work.Work:
    """Begin a reconciliation with evidence that was uploaded to a month, or a collection of itinerary files."""
    path = upload.path(months.folder_of(settings.folder, month)).relative_to(settings.folder)
    kind: work.Kind = "collect" if upload.kind == "itineraries" else "reconcile"
    return work.begin(settings, kind, by, month, files=[str(path)], lang=upload.reconcile_in)

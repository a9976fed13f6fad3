"""The demonstration (`voucher serve --sandbox`): the sample month, its profile, and the day that it is of."""

import datetime
import shutil
import time
from pathlib import Path

import pipeline
from pipeline.file_writing import PRIVATE, private_folder
from pipeline.messages.translate import rendered
from pipeline.model.columns import Lang
from pipeline.model.message import message
from pipeline.page import month_uploads, months, work
from pipeline.page.month_uploads import Upload
from pipeline.page.page_database import transaction
from pipeline.page.serve_settings import ServeSettings
from pipeline.submission.sandbox_carrier import statement_beside

#: The day on which the sample month is judged, whatever day it is: its vouchers can be asked for no longer than a year.
DAY = datetime.date(2026, 11, 20)
_WORKBOOKS: dict[Lang, str] = {"en": "tickets-2026-10.xlsx", "zh": "tickets-2026-10-zh.xlsx"}


def sample_data() -> Path:
    """Where the sample month lies: in the package that was installed, or beside it in the repository."""
    package = Path(pipeline.__file__).parent
    installed = package / "sample_data"
    return installed if installed.is_dir() else package.parent / "sample_data"


def profile() -> Path:
    """The profile that the sample month is sent with."""
    return sample_data() / "sandbox.toml"


def statement(settings: ServeSettings) -> Path | None:
    """What the sandbox carrier has issued, as its statement; None where there is none, as with a real carrier."""
    path = statement_beside(settings.ledger_file) if settings.ledger_file else None
    return path if settings.sandbox and path and path.is_file() else None


def begin(settings: ServeSettings) -> None:
    """Put the sample month in, where there is no month yet."""
    if not settings.sandbox or months.all_months(settings.folder):
        return
    name = _WORKBOOKS[settings.lang]
    month = months.begin(
        settings.folder, settings.login, rendered(message("Sample month, October 2026"), settings.lang)
    )
    upload = Upload(1, name, "workbook", (sample_data() / name).stat().st_size, time.time(), settings.login)
    path = upload.path(months.folder_of(settings.folder, month))
    private_folder(path.parent)
    shutil.copyfile(sample_data() / name, path)
    path.chmod(PRIVATE)
    with transaction(settings.folder):
        month_uploads.add_upload(settings.folder, month, upload)
    work.judge(settings, month, settings.login)

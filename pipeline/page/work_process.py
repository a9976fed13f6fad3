"""The process of a piece of the page's work: `python -m pipeline.page.work_process FOLDER NUMBER`, with what the server was started with on
stdin.

Everything else is imported when its turn has come (month_work.py).
"""

import os
import sys
from pathlib import Path

from pipeline import signals
from pipeline.page.page_database import transaction
from pipeline.page.work_turn import wait_for_turn
from pipeline.process_hardening import protect_process


def main() -> None:
    """Wait for its turn, do the work, and note how it ended. SIGTERM stops it as it stops `voucher issue`."""
    protect_process()
    signals.heed()
    folder, number, handed = Path(sys.argv[1]), int(sys.argv[2]), sys.stdin.buffer.read()
    try:
        with transaction(folder):  # after whoever began it has noted it
            pass
        wait_for_turn(folder, number)
        with signals.put_off():
            from pipeline.page.month_work import do  # noqa: PLC0415 - see above

        do(handed, number)
    except KeyboardInterrupt:
        signals.let_finish()
        from pipeline.page.month_work import note_interrupted  # noqa: PLC0415 - see above

        note_interrupted(handed, number)
    os._exit(0)


if __name__ == "__main__":
    main()

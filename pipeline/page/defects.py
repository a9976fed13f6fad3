"""What a defect of ours leaves on stderr for whoever mends it, where it came from a visitor's request."""

import secrets
import sys
import traceback

from pipeline.carrier.key_redaction import Concealed
from pipeline.secret_keys import known_keys


def log_defect(error: BaseException) -> str:
    """Where it happened, under a short number that the visitor sees; gives that number.

    Nothing of what it says, which may quote a cell: kinds of errors and lines of our code alone.
    """
    number = secrets.token_hex(4)
    lines: list[str] = []
    at: BaseException | None = error
    while at is not None:
        lines += [
            *traceback.format_tb(at.__traceback__),
            f"{type(at).__module__}.{type(at).__qualname__}\n",
        ]
        at = at.__cause__ or (None if at.__suppress_context__ else at.__context__)
    text = Concealed(*known_keys()).text("".join(lines))
    print(f"voucher serve: defect {number}\n{text}", end="", file=sys.stderr, flush=True)  # noqa: T201
    return number

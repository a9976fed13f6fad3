"""The ledger of a run that sends: what an interrupted run's answers are read with, when the next one puts it in order."""

import contextlib
import datetime
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipeline.ledger import attempts
from pipeline.ledger.session import file_to_write
from pipeline.ledger.settlements import Settlement, settle
from pipeline.model.errors import InputProblem
from pipeline.model.job import Job, Watch
from pipeline.model.message import from_text
from pipeline.model.outcome import Answered, Outcome
from pipeline.model.profile import Answers, Carrier, Profile, Secrets
from pipeline.submission.recovered_answers import meaning
from tests.crash.wire_answers import envelope, result, sealed, yes
from tests.crash.wire_bench import Book, Row, request_of, rows_of
from tests.crash.wire_server import API_KEY, ENCRYPTION_KEY, Asked

if TYPE_CHECKING:
    from collections.abc import Callable

KEYS = Secrets(API_KEY, ENCRYPTION_KEY)
REFUSED = Answered(401, b"")


class Killed:
    """A ledger on which a run was killed: some attempts have ended, some have an answer that nobody has read, some none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._steps: list[Callable[[Book], None]] = []
        self._count = 0

    def next_run(self) -> None:
        """What comes from here on happens in another run."""
        self._steps.append(Book.next_run)

    def attempt(self, came: Outcome | Answered | None, voucher: str = "itinerary", again: int = 0) -> str:
        """One more attempt of the run, at a new ticket or at that of the attempt `again`; its ticket."""
        self._count += not again
        request = request_of(voucher, again or self._count)

        def step(book: Book) -> None:
            (planned,) = book.plan([request])
            book.connection.execute(
                "UPDATE attempt SET state = 'sending', sending_at = '2026' WHERE attempt_id = ?",
                (planned.attempt_id,),
            )
            if isinstance(came, Outcome):
                attempts.record_outcome(book.connection, planned.attempt_id, came)
            elif came is not None:
                attempts.record_answer(book.connection, planned.attempt_id, came)

        self._steps.append(step)
        return request.charges[0].identity.ticket_no

    def settle(self) -> None:
        """Evidence says that the first attempt issued nothing."""
        self._steps.append(
            lambda book: settle(book.connection, 1, Settlement("not_sent", "", "A. Person", "told so"))
        )

    def put_in_order(self, keys: Secrets | None = KEYS, answers: Answers | None = None) -> dict[str, Row]:
        """What the next run makes of it: the last attempt by ticket."""
        if (child := os.fork()) == 0:  # a process that ends like a killed one: nothing is closed
            code = 1
            with contextlib.suppress(BaseException):
                book = Book(self._folder, kept=True)
                for step in self._steps:
                    step(book)
                code = 0
            os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        path = self._folder / "wire.ledger"
        profile = Profile(carrier=Carrier(agency="A"), answers=answers or Answers())
        job = Job((), profile, keys, str(path), as_of=datetime.date(2026, 11, 20), sandbox=True)
        watch = Watch(lambda _: None, lambda _: None, lambda _: True, lambda _: None)
        with file_to_write(job, watch, meaning(job, keys)):
            pass
        return {ticket: rows[-1] for ticket, rows in rows_of(path).items()}


@pytest.fixture
def killed(tmp_path: Path) -> Killed:
    return Killed(tmp_path)


def own(ticket: str) -> Answered:
    """A success of the service's own."""
    return Answered(200, yes(Asked("itinerary", (ticket,), b"", 0)))


def test_a_refused_key_where_nothing_was_accepted_issued_nothing(killed: Killed) -> None:
    first, second = killed.attempt(REFUSED), killed.attempt(Answered(404, b""))
    found = killed.put_in_order()
    assert (found[first].state, found[first].reason) == ("not_sent", "key_refused")
    assert (found[second].state, found[second].reason) == ("not_sent", "carrier_unreachable")


@pytest.mark.parametrize(
    "before",
    [Outcome("issued", number="7"), Outcome("rejected", "carrier_rejected"), own("9990000000001"), None],
    ids=["issued", "rejected", "its answer not read yet", "no answer came"],
)
@pytest.mark.parametrize("status", [401, 403, 404, 405])
def test_a_refusal_in_a_run_that_was_or_may_have_been_accepted_is_unknown(
    killed: Killed, before: Outcome | Answered | None, status: int
) -> None:
    killed.attempt(before)
    refused = killed.attempt(Answered(status, b""))
    found = killed.put_in_order()[refused]
    assert (found.state, found.reason) == ("unknown", "answer_unexplained")
    assert str(from_text(found.detail)).startswith(f"HTTP {status}, though")


def test_an_unread_answer_that_came_later_counts_too(killed: Killed) -> None:
    refused = killed.attempt(REFUSED)
    killed.attempt(own("9990000000002"))
    assert killed.put_in_order()[refused].state == "unknown"


def test_what_an_earlier_run_was_told_says_nothing_of_this_one(killed: Killed) -> None:
    killed.attempt(Outcome("issued", number="7"))
    killed.next_run()
    killed.attempt(Outcome("not_sent", "carrier_busy"))
    killed.attempt(Outcome("unknown", "no_answer"))
    refused = killed.attempt(REFUSED)
    assert killed.put_in_order()[refused].state == "not_sent"


def test_an_answer_is_read_with_the_profile_that_is_given(killed: Killed) -> None:
    refused = killed.attempt(Answered(200, envelope("", code=8, message="no")))
    assert killed.put_in_order(answers=Answers(rejected_codes=(8,)))[refused].state == "rejected"


def test_a_code_that_refuses_the_key_accepts_it_in_no_answer(killed: Killed) -> None:
    """Not even with a result that opens with our key; by any other code that would be the service's own answer."""
    asked = Asked("itinerary", ("9990000000001",), b"", 0)
    killed.attempt(Answered(200, envelope(sealed(result(asked, "", success=False)), code=7, message="no")))
    refused = killed.attempt(REFUSED)
    assert killed.put_in_order(answers=Answers(key_refused_codes=(7, 401)))[refused].state == "not_sent"


def test_a_no_to_what_was_in_doubt_is_unknown(killed: Killed) -> None:
    doubted = killed.attempt(Outcome("unknown", "no_answer"))
    killed.settle()
    asked = Asked("itinerary", (doubted,), b"", 0)
    killed.attempt(Answered(200, envelope(sealed(result(asked, "", success=False)))), again=1)
    found = killed.put_in_order()[doubted]
    assert (found.attempt, found.state) == (2, "unknown")
    assert "an earlier attempt is unknown" in str(from_text(found.detail))


def test_a_key_that_an_answer_quotes_is_not_kept_in_its_outcome(killed: Killed) -> None:
    asked = Asked("invoice", ("9990000000001",), b"", 0)
    document = {**result(asked, "", success=False), "errInfo": f"{API_KEY} and {ENCRYPTION_KEY} are no keys"}
    quoting = killed.attempt(Answered(200, envelope(sealed(document))), "invoice")
    found = killed.put_in_order()[quoting]
    assert (found.state, str(from_text(found.detail))) == ("rejected", "*** and *** are no keys")


def test_without_the_keys_an_answer_is_left_as_it_is(killed: Killed) -> None:
    killed.attempt(REFUSED)
    with pytest.raises(InputProblem, match="set VOUCHER_API_KEY and"):
        killed.put_in_order(keys=None)

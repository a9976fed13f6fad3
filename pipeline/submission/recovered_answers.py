"""Answers that a killed run recorded and did not come to interpret: what they mean, when the next start puts its attempts in order."""

from pipeline.carrier.crypto import Cipher
from pipeline.carrier.key_redaction import Concealed
from pipeline.carrier.replies import Before, interpret, is_the_services_own
from pipeline.ledger.recovery import Meaning, Unread
from pipeline.model.errors import InputProblem
from pipeline.model.job import Job
from pipeline.model.outcome import Answered, Outcome
from pipeline.model.profile import Secrets


def meaning(job: Job, keys: Secrets | None) -> Meaning:
    """How such an answer is interpreted, beside what the ledger has of its run; without keys it raises InputProblem."""
    if keys is None:
        return _unreadable
    cipher, answers = Cipher(keys.encryption_key), job.profile.answers
    concealed = Concealed(keys.api_key, keys.encryption_key)

    def read(left: Unread, answer: Answered) -> Outcome:
        # An answer that never came may have been the service's own.
        accepted = left.accepted or any(
            other is None or is_the_services_own(other, cipher, answers) for other in left.beside
        )
        outcome = interpret(answer, left.asked, cipher, answers, Before(left.doubted, accepted))
        return concealed.outcome(outcome)

    return read


def _unreadable(_left: Unread, _answer: Answered) -> Outcome:
    raise InputProblem(
        "An earlier run was killed after the carrier answered, and reading the answer takes the"
        " keys: set VOUCHER_API_KEY and VOUCHER_ENCRYPTION_KEY, as for voucher issue"
    )

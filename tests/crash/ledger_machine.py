"""The ledger against a plain model of the promise: random lives of a real ledger file.

Hypothesis makes up the life of one ledger file: runs that plan, claim, answer, end and try again through
the real writer, ledgers that fail under it, processes that are killed and started again, settlements by
hand, and a stranger's connection that tries whatever SQL can be tried. After every step a second,
read-only connection must show exactly what the model says: every row, what is held, what goes apart, what
is doubted, and the history. The rules of a life are here put together; the parts are

- machine_model: the promise in plain Python, which shares no code with the ledger; machine_pool,
  machine_answers: what it is asked for and answered; machine_checks: the file compared with it;
- machine_life: what all rules share; machine_choices, machine_files: what a life is drawn and begun from;
- machine_runs, machine_writing, machine_faults, machine_kills, machine_strangers: the rules, and
  machine_target, machine_illegal_*: what a stranger tries.

Evidence is withdrawn and vouchers are reversed on the way, also where that must be refused.

Long form, resumable by its range of seeds, 500 examples of 50 steps each:

    python -m tests.crash.ledger_machine --seeds 1..20

A violation is printed with its seed and the shortest life that Hypothesis found to lead there; the same
seed finds it again.

Planted bugs that it was seen to catch, one at a time:

- the database lets `sending` go back to `planned`; holds a charge in two live attempts; forgets equal wire
  codes, the one kind of voucher, the one number, the doubt; or lacks any one of most of its triggers;
- recovery passes over `sending`, calls it not sent, takes the spill file in too late or not at all, forgets
  that a request was never sent, takes in another ledger's outcomes, removes the spill file before its COMMIT
  or not at all, forgets a doubt when it reads an answer;
- the writer acknowledges what a failing ledger did not take, or spills no raw answers; a number that is
  taken is not noticed before it is written;
- what is held leaves out the unknown; charges of a rejected invoice of two are not kept apart; trying again
  takes other charges, or another run; dropping what was planned drops `not_sent` too, or nothing;
- the -wal of a run that was killed is not kept, not missed, or taken for another ledger's; a run's
  beginning stays in the -wal.
"""

import argparse
import sys
import time

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.crash.machine_faults import Failing
from tests.crash.machine_kills import Kills
from tests.crash.machine_life import DONE
from tests.crash.machine_runs import Runs
from tests.crash.machine_strangers import ByHand


class LedgerMachine(Runs, Failing, Kills, ByHand):
    """One ledger file's life, with everything that may happen to it."""


def live(examples: int, number: int, *, shorten: bool = True) -> None:
    """So many ledgers' lives, made up from a seed. Raises at the first violation, made short."""
    run_state_machine_as_test(
        seed(number)(LedgerMachine),
        settings=settings(
            max_examples=examples,
            stateful_step_count=50,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink) if shorten else (Phase.generate,),
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
        ),
    )


def _tell(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - a command


def main() -> int:
    """Live through ranges of seeds; 1 if there was a violation."""
    parser = argparse.ArgumentParser(
        description="Random lives of a ledger file, compared with a plain model."
    )
    parser.add_argument("--seeds", default="1..20", metavar="A..B", help="the range of seeds, both included")
    parser.add_argument("--examples", type=int, default=500, help="examples of each seed")
    parser.add_argument("--as-found", action="store_true", help="a violation as it was found, not made short")
    options = parser.parse_args()
    first, _, last = options.seeds.partition("..")
    violations = 0
    for number in range(int(first), int(last or first) + 1):
        began = time.monotonic()
        try:
            live(options.examples, number, shorten=not options.as_found)
        except Exception as error:  # noqa: BLE001 - told, and the other seeds still tried
            violations += 1
            _tell("\n".join([f"seed {number}: VIOLATION {error!r}", *getattr(error, "__notes__", ())]))
        else:
            _tell(f"seed {number}: {options.examples} examples in {time.monotonic() - began:.0f} s")
    _tell(", ".join(f"{what} {count}" for what, count in sorted(DONE.items())) + f"; violations {violations}")
    return int(violations > 0)


if __name__ == "__main__":
    sys.exit(main())

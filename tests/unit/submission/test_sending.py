"""What sending changes in the process, and the event loop that requests are sent by."""

import gc
import sys

from pipeline.submission import sending
from pipeline.submission.sending import _loop_factory


def test_while_sending_the_collector_leaves_what_was_read_alone_and_only_then() -> None:
    before = gc.get_threshold()
    assert gc.get_freeze_count() == 0
    with sending._collecting_less():
        assert gc.get_freeze_count() > 0
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_freeze_count() == 0
    assert gc.get_threshold() == before


def test_while_sending_the_ledgers_thread_gets_its_turns_at_once_and_only_then() -> None:
    before = sys.getswitchinterval()
    with sending._turns_at_once():
        assert sys.getswitchinterval() < before
    assert sys.getswitchinterval() == before


def test_tls_is_for_the_standard_loop() -> None:
    assert _loop_factory(secure=True) is None

"""Requests sent to the carrier: a batch judged, split, claimed, sent, and each outcome recorded.

`batch` is one Table's way, `sending_run` a run's sending with all that it takes (in an `event_loop`), `request_sender` what happens to each
request, `attempt_sender` to each attempt at it. `retry`, `failures_in_a_row` and `rate_limit` are policies, `graceful_stop` is Ctrl-C,
`recovered_answers` reads what a killed run left unread; `sandbox_carrier` is one that lasts as long as a run.
"""

"""Epochs: stretches of a ledger's history that no other history shares.

A restored backup numbers its attempts from where it was, so that what the lost ledger gave out is given out again. An
attempt is therefore named by its epoch, its request and its number. The database begins an epoch by itself when the
last open gap is closed (`gap_closed_begins_an_epoch`), and refuses to send what was planned in an earlier one.
"""

import apsw


def current(connection: apsw.Connection) -> str:
    """The ID of the epoch that attempts are planned in now."""
    found: str = connection.execute("SELECT epoch_id FROM epoch ORDER BY epoch DESC LIMIT 1").get
    return found


def of_ledger(connection: apsw.Connection) -> list[str]:
    """The IDs of all epochs of this ledger, the first of which is its own ID, in the order in which they began."""
    return [epoch for (epoch,) in connection.execute("SELECT epoch_id FROM epoch ORDER BY epoch")]

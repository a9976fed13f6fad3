"""The ledger: what was asked of the carrier and what came of it, one durable file.

The only place that knows SQL. `sql/` holds the tables, which refuse illegal changes, version by version (`schema`).
`opening` opens and locks the file after `local_disk` and `files_match` have looked at where it lies and what lies
beside it; `runs` begins and ends a run, `recovery` puts in order what a killed one left. `held_charges` tells what is
held of charges, `planning` claims them, `group_commit` commits what happens while requests are in flight, `spill` keeps
outcomes that the file could not take, `attempts` reads and ends what was begun. `backup`, `gaps`, `carrier_move` and
`integrity_check` are what a team does with its ledger over the years.

What the rest of the program has of it are values: of one that it looks at (`read_ledger`; a file of it: `ledger_file`), that a run writes
to (`session`), that is changed outside runs (`ledger_to_change`); what is asked of any ledger, wherever it is, is in `read_ledger` and
`operations`. A connection never leaves this room.
"""

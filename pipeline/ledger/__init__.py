"""The ledger: what was asked of the carrier and what came of it, one durable file.

The only place that knows SQL. `schema.sql` holds the tables and refuses illegal changes, `opening`
opens and locks the file, `records` reads and plans, `writer` commits what happens while requests are
in flight, `spill` keeps outcomes that the file could not take.
"""

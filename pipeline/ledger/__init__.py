"""The ledger: what was asked of the carrier and what came of it, one durable file.

The only place that knows SQL. `sql/` holds the tables, which refuse illegal changes, version by version
(`versions`). `opening` opens and locks the file after `filesystem` and `wholeness` have looked at where it
lies and what lies beside it; `runs` begins and ends a run, `recovery` puts in order what a killed one left.
`known` tells what is held of charges, `planning` claims them, `writer` commits what happens while requests are in
flight, `spill` keeps outcomes that the file could not take, `records` reads and ends what was begun. `copying`, `gaps`,
`moving` and `soundness` are what a team does with its ledger over the years.
"""

"""The rules: which rows may be sent, and as what.

`rows` resolves what a row means (its amount, its buyer), `rule` is the form of a rule, each family has a file of its own, `auto_voucher`
decides what `auto` becomes, and `judge` puts them together. What rows say among themselves is in `duplicates` (one charge twice) and
`ticket_conflicts` (one ticket, two stories), what the ledger holds in `against_ledger`. A rule is a predicate over all rows at once; one
that raises stops the run, it never becomes a finding. The source of every rule is carrier-interface.md, or the contract (interface.md)
where that is said.
"""

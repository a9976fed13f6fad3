"""The rules: which rows may be sent, and as what.

`rows` resolves what a row means (its amount, its buyer), `rule` is the form of a rule, each family has
a file of its own, and `judge` puts them together. A rule is a predicate over all rows at once; one
that raises stops the run, it never becomes a finding. The source of every rule is
carrier-interface.md, or the contract (interface.md) where that is said.
"""

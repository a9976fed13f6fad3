"""Reconciling, step by step; `run.reconcile` is the flow.

`named` reads the evidence that was named and checks it, `taking` takes what lies in the inbox, `settling` weighs the
evidence and records what it settles, `retrying` sends what may be sent now, `comparing` lays tickets, ledger and
statement side by side, and `noting` says what is to be remembered of each file. Nothing unknown is sent without
evidence, and evidence that contradicts itself changes nothing.
"""

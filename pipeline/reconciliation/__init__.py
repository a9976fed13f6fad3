"""Reconciling, step by step; `pipeline/run/reconcile.py` is the flow.

`given_evidence` reads the evidence that was named and checks it, `inbox` takes in what lies there. `record_settlements`
weighs it all and records what it settles: `usable_answers` is about what people say, `reversals_on_statements` about red lines.
`resubmit` sends what may be sent now, `comparison_inputs` lays tickets, ledger and statement side by side, and `outputs` writes the
workbooks; `handled_files` notes what became of each file, and `result_changes` tells whether that is anything new. Nothing unknown is
sent without evidence, and evidence that contradicts itself changes nothing.
"""

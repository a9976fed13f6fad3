"""Evidence weighed against unknown outcomes; tickets, ledger and statement compared.

`decide` is the flow: `match` tells which line is about which charge, `contradictions` what a statement lists of an attempt and what
speaks against it, `shared_numbers` one number for two requests, `silence` what it proves that nothing is listed,
`unexplained_lines` what is held as issued elsewhere. `compare` lays the three side by side afterwards.
"""

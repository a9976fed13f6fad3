"""The flow, a command a module: each is one screen, and loads what its command needs.

    workbooks ─read─▶ Table ─judge─▶ Verdicts ─split─▶ Requests ─submit─▶ Results ─write─▶ workbook, report
                                │                         │ ▲                │
                             ledger                  claim▼ │                ▼record
                                └──────────────────────── ledger ────────────┘ ◀─evidence─ reconcile ◀─ statements, answers

One way, no back-calls; progress goes out as values through a Watch, and nothing here prints.
"""

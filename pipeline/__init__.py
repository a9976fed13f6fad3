"""Voucher Pipeline: spreadsheets of air tickets into electronic invoices and itineraries.

The flow is in `run`; the contract with the outside is interface.md, the carrier's is
carrier-interface.md.
"""

__version__ = "0.1.0"

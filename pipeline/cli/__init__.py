"""The command line: options to values, calls of the flow, exit codes."""

from pipeline.cli.main import main, voucher

__all__ = ["main", "voucher"]

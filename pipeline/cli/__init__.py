"""The command line: options to values, calls of the flow, exit codes."""

from pipeline.cli.commands import voucher
from pipeline.cli.main import main

__all__ = ["main", "voucher"]

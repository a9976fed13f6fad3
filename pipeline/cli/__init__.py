"""The command line: options to values, calls of the flow, exit codes."""

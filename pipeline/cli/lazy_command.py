"""Commands that are declared in one module and done in another, which is loaded when the command is called.

click's own lazy groups load a command to list it, to help with it and to complete its options too. So that these answer at
once as well, the declarations are light and always there, and what is lazy is the function behind them: its module imports at
its top whatever it needs.
"""

import gc
from importlib import import_module
from typing import Any

import click

from pipeline.cli.stderr import reader
from pipeline.reading.child_process import ahead


class LazyCommand(click.Command):
    """A command done by a function that is named by import path, `module:function`; it takes the command's parameters."""

    def __init__(self, *given: Any, done_by: str, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.done_by = done_by

    def invoke(self, ctx: click.Context) -> Any:
        """Load the function, and call it with what the command line gives."""
        module, _, name = self.done_by.partition(":")
        self.callback = getattr(import_module(module), name)
        return super().invoke(ctx)


class ReadingCommand(LazyCommand):
    """A command whose first workbook is read while its module is loaded; the function takes the reading as `begun`."""

    def invoke(self, ctx: click.Context) -> Any:
        """Begin to read, then load and call. Nothing looks for rubbish, but while requests are sent: what is loaded, read and made is much,
        and none of it is any.
        """
        gc.disable()
        try:
            with ahead(ctx.params["workbooks"], reader().begun) as begun:
                ctx.params["begun"] = begun
                return super().invoke(ctx)
        finally:
            gc.freeze()
            gc.unfreeze()  # what there is by now is old, and is not looked through because the command has ended
            gc.enable()

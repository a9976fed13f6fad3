"""Compile the catalogues of the languages while the package is built.

pipeline/messages/zh.po becomes zh/LC_MESSAGES/messages.mo in the wheel.
"""

from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileCatalogues(BuildHookInterface):  # type: ignore[type-arg] - of no builder in particular
    """What hatchling calls before it collects the package's files."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - what hatchling hands over
        """Compile each catalogue beside itself."""
        for path in Path(self.root, "pipeline", "messages").glob("*.po"):
            compiled = path.with_suffix("") / "LC_MESSAGES" / "messages.mo"  # where gettext looks for it
            compiled.parent.mkdir(parents=True, exist_ok=True)
            # A program that runs meanwhile reads the one or the other, whole.
            finished = compiled.with_suffix(".new")
            with path.open("rb") as texts, finished.open("wb") as file:
                write_mo(file, read_po(texts, locale=path.stem))
            finished.replace(compiled)

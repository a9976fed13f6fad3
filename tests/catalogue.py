"""The texts of the program, taken out of its code for the catalogues of the other languages.

    python -m tests.catalogue           # brings pipeline/messages/*.po up to date: new texts without words yet, stale ones gone
    python -m tests.catalogue --check   # says what is missing

gettext's own tools do the same; this names what they have to look for, and keeps the files in one order.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

PACKAGE = Path(__file__).parents[1] / "pipeline"
CATALOGUES = PACKAGE / "messages"
#: What marks a text in the code, and which of its arguments are texts.
KEYWORDS: dict[str, Any] = {
    "message": None, "counted": (1, 2), "N_": None, "P_": ((1, "c"), 2),
    "InputProblem": None, "LedgerProblem": None, "LedgerInUse": None, "Declined": None, "Stop": None, "Overtaken": None,
}  # fmt: skip


#: click speaks the language of our catalogues: what it says by gettext.
CLICK = Path(click.__file__).parent
CLICK_KEYWORDS: dict[str, Any] = {"_": None, "ngettext": (1, 2)}
#: Some of it stands in a variable there, in later releases (8.5.1).
CLICK_BY_VARIABLE = ("required",)


PYTHON, JINJA = [("**.py", "python")], [("**.html", "jinja2.ext:babel_extract")]
#: A template that can't be parsed is an error, not one without texts.
STRICT = {"**.html": {"silent": "false"}}
#: The page's templates, and what marks a text in them.
TEMPLATES = PACKAGE / "page" / "templates"
TEMPLATE_KEYWORDS: dict[str, Any] = {"say": None, "count_say": (1, 2)}


def extracted(*folders: Path) -> Catalog:
    """Every text in the code of these folders; without any, of ours with the page's templates, and of click's."""
    found = Catalog()
    known = {CLICK: (CLICK_KEYWORDS, PYTHON), TEMPLATES: (TEMPLATE_KEYWORDS, JINJA)}
    for folder in folders or (PACKAGE, TEMPLATES, CLICK):
        keywords, methods = known.get(folder, (KEYWORDS, PYTHON))
        for _, _, texts, _, context in extract_from_dir(
            folder, methods, keywords=keywords, options_map=STRICT
        ):
            found.add(texts, context=context)
    if not folders:
        # The program can't be imported before the catalogues are compiled, which may be what is done here.
        from pipeline.cli.commands import voucher  # noqa: PLC0415

        for text in (*helps(voucher), *CLICK_BY_VARIABLE):
            found.add(text)
    return found


def helps(command: click.Command) -> Iterator[str]:
    """What the help of a command and of those below it says, in paragraphs."""
    from pipeline.cli.language import paragraphs  # noqa: PLC0415 - as there

    options = [parameter.help for parameter in command.params if isinstance(parameter, click.Option)]
    for text in filter(None, (command.help, command.epilog, *options)):
        yield from paragraphs(text)
    if isinstance(command, click.Group):
        for below in command.commands.values():
            yield from helps(below)


def languages() -> Iterator[Path]:
    """The catalogues: one file a language."""
    return iter(sorted(CATALOGUES.glob("*.po")))


def read(path: Path) -> Catalog:
    """A catalogue of one language."""
    with path.open("rb") as file:
        return read_po(file, locale=path.stem)


def both(text: Any) -> tuple[str, ...]:
    """A text, or the two of a number of things."""
    return (text,) if isinstance(text, str) else tuple(text)


def entries(catalogue: Catalog) -> dict[tuple[Any, str | None], Message]:
    """What a catalogue holds, without its header, by text and context."""
    return {(one.id, one.context): one for one in catalogue if one.id}


def update(path: Path) -> None:
    """Bring a catalogue up to date, in the order of its texts."""
    known, fresh = entries(read(path)), read(path)
    for one in [*entries(fresh).values()]:
        fresh.delete(one.id, one.context)
    for key, one in entries(extracted()).items():
        fresh.add(one.id, known[key].string if key in known else None, context=one.context)
    header = path.read_text(encoding="utf-8").split("\n\n")[0]
    with path.open("wb") as file:
        file.write(f"{header}\n\n".encode())
        write_po(file, fresh, width=0, sort_output=True, no_location=True, omit_header=True)


def compile_all() -> None:
    """Compile each catalogue beside itself, where that is not done yet."""
    for path in languages():
        compiled = path.with_suffix("") / "LC_MESSAGES" / "messages.mo"  # where gettext looks for it
        if not compiled.exists() or compiled.stat().st_mtime < path.stat().st_mtime:
            compiled.parent.mkdir(parents=True, exist_ok=True)
            # Others may be reading it, or compile it at the same time.
            finished = compiled.with_suffix(f".{os.getpid()}")
            with finished.open("wb") as file:
                write_mo(file, read(path))
            finished.replace(compiled)


def main() -> None:
    """Update, or check."""
    compile_all()
    for path in languages():
        if "--check" in sys.argv:
            known = entries(read(path))
            for key in entries(extracted()):
                if key not in known or not all(both(known[key].string)):
                    print(path.name, key)  # noqa: T201 - a command
        else:
            update(path)
    compile_all()


if __name__ == "__main__":
    main()

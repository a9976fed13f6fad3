"""Why something stops, in the language of whoever reads it."""

import contextlib
from collections.abc import Iterator

from pipeline.chinese import in_language
from pipeline.columns import Lang
from pipeline.errors import Stop


@contextlib.contextmanager
def said_in(lang: Lang) -> Iterator[None]:
    """Let what stops here be said in that language."""
    try:
        yield
    except Stop as problem:
        raise type(problem)(in_language(str(problem), lang)) from problem

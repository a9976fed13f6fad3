"""Pages: jinja2 templates, filled in and in the language of whoever asks.

In a template: `say("English text {fact}", fact=…)` and `count_say("{count} row", "{count} rows", n)` are messages as in the code
(tests/catalogue.py takes them out of the templates for the catalogues), `said(message)` is one that the code has made. Everything
is escaped, and nothing of it can't be seen (`seen`), wherever it stands; but `text | exact` for what a form sends back. `text | cell`
is for what strangers wrote: its own direction too. Also there:
`term("issued", "status")` for `said`, `minor | money`, `when(seconds)`, `may("POST", "/months/{id}/send")`, `nav(path, words)`,
`csrf_field()` (the first thing in every form), `static(name)`; charts, badges and the pages of a list in macros.html.
"""

import datetime
import functools
import hashlib
import unicodedata
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import jinja2
from aiohttp import web
from markupsafe import Markup

from pipeline.messages.translate import rendered
from pipeline.model.message import Fact, Term, counted, message
from pipeline.model.money import money_shown
from pipeline.page import work_words
from pipeline.page.page_words import here, told
from pipeline.page.serve_settings import SETTINGS
from pipeline.page.uploads import MOST_UPLOADED
from pipeline.page.visitor import Role, Visitor, visitor_of

_HERE = files("pipeline.page")
#: The least role of every route, by method and path as in the table of routes; what a person may not do is not shown.
LEAST: web.AppKey[Mapping[tuple[str, str], Role | None]] = web.AppKey("least", dict)

#: Which language was last chosen in a browser.
LANG_COOKIE = "voucher-lang"

#: How many buyers a drop-down has; of more, one is found by typing.
MOST_OPTIONS = 200

#: Files that pages load, by name, with their types.
STATIC = {"page.css": "text/css", "page.js": "text/javascript"}


@functools.cache
def static_text(name: str) -> str:
    """The text of one of STATIC."""
    return _HERE.joinpath("static", name).read_text(encoding="utf-8")


@functools.cache
def static_version(name: str) -> str:
    """What changes when the file does, for its address."""
    return hashlib.sha256(static_text(name).encode()).hexdigest()[:12]


def _static(name: str) -> str:
    return f"/static/{static_version(name)}/{name}"


def seen(text: object) -> str:
    r"""A text of a stranger's, in which everything can be seen: controls and marks of direction are shown as signs.

    >>> seen("a\u202eb\x00c\td")
    'a�b�c\td'
    """
    said = str(text)
    if said.isprintable():
        return said
    return "".join(
        character if character in "\n\t" or unicodedata.category(character) not in _UNSEEN else "\ufffd"
        for character in said
    )


_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn")


def _finalized(value: object) -> object:
    return seen(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _exact(text: object) -> Markup:
    return Markup("{}").format(text)


def _cell(text: object) -> Markup:
    return Markup("<bdi>{}</bdi>").format(seen(text))


class _Loader(jinja2.FunctionLoader):
    def __init__(self) -> None:
        super().__init__(lambda name: _HERE.joinpath("templates", name).read_text(encoding="utf-8"))


@functools.cache
def environment() -> jinja2.Environment:
    """The templates; a name that is not there is an error, not nothing."""
    made = jinja2.Environment(
        loader=_Loader(), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        finalize=_finalized,
    )  # fmt: skip
    made.globals |= {
        "static": _static,
        "say": jinja2.pass_context(lambda context, text, /, **facts: _rendered(context, message(text, **facts))),
        "count_say": jinja2.pass_context(
            lambda context, one, many, /, count, **facts: _rendered(context, counted(one, many, count, **facts))
        ),
        "term": Term,
        "most_options": MOST_OPTIONS,
        "work_words": work_words,
        "when": jinja2.pass_context(_when),
        "nav": jinja2.pass_context(_nav),
        "said": jinja2.pass_context(lambda context, fact: rendered(told(fact), context["lang"])),
        "csrf_field": jinja2.pass_context(
            lambda context: Markup('<input type="hidden" name="csrf" value="{}">').format(context["visitor"].csrf)
        ),
    }  # fmt: skip
    made.filters |= {"cell": _cell, "exact": _exact, "money": money_shown, "count": "{:,}".format}
    return made


def _rendered(context: Mapping[str, Any], fact: Fact) -> str:
    return rendered(here(fact), context["lang"])


def _when(context: Mapping[str, Any], seconds: float) -> str:
    """A time (seconds since 1970) where the carrier is."""
    zone = ZoneInfo(context["settings"].profile.carrier.time_zone)
    return f"{datetime.datetime.fromtimestamp(seconds, zone):%Y-%m-%d %H:%M}"


def _nav(context: Mapping[str, Any], path: str, words: str) -> Markup:
    """An entry of the navigation, if the visitor may go there; marked where they are."""
    if not context["may"]("GET", path):
        return Markup()
    here = context["path"] == path or (path != "/" and context["path"].startswith(f"{path}/"))
    current = Markup(' aria-current="page"') if here else ""
    return Markup('<li><a href="{}"{}>{}</a></li>').format(path, current, words)


def shown(request: web.Request, template: str, *, status: int = 200, **values: Any) -> web.Response:
    """A page of ours, for whoever asks."""
    visitor = visitor_of(request)
    text = environment().get_template(template).render(
        visitor=visitor,
        lang=visitor.lang,
        path=request.path,
        this_page=_this_page(request),
        most_uploaded=MOST_UPLOADED,
        may=_may(request, visitor),
        settings=request.app[SETTINGS],
        **values,
    )  # fmt: skip
    return web.Response(text=text, status=status, content_type="text/html")


def _this_page(request: web.Request) -> str:
    """The address of the page that the visitor looks at, as it can be opened again; the first page where it can't."""
    if request.method in ("GET", "HEAD"):
        return request.path_qs
    return request.path if ("GET", canonical(request)) in request.app[LEAST] else "/"


def canonical(request: web.Request) -> str:
    """A request's path as it is in the table of routes; "" for none of them."""
    resource = request.match_info.route.resource
    return resource.canonical if resource else ""


def _may(request: web.Request, visitor: Visitor) -> Callable[[str, str], bool]:
    """Whether this visitor may use a route, by its method and its path in the table of routes; no for one that is not there."""
    least = request.app[LEAST]
    return lambda method, path: (method, path) in least and visitor.may(least[method, path])


def see_other(path: str) -> web.HTTPSeeOther:
    """To another page of ours, to be raised or returned."""
    return web.HTTPSeeOther(path)


def of_ours(path: str) -> str:
    """A path that a form or an address gave as where to go next, if it is one of ours; else the first page.

    >>> of_ours("/months/7?page=2"), of_ours("//evil.example/"), of_ours("https://evil.example")
    ('/months/7?page=2', '/', '/')
    """
    parts = urlsplit(path) if path.isprintable() and "\\" not in path else None
    plain = (
        parts and not parts.scheme and not parts.netloc and path.startswith("/") and not path.startswith("//")
    )
    return path if plain else "/"

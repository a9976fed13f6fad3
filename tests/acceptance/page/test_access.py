"""Every route of the table, for everybody: below its least role nobody gets in, and nothing changes without the form's token."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pipeline.page.routes import ROUTES, Route
from pipeline.page.visitor import Role
from tests.acceptance.conftest import Desk
from tests.acceptance.page.visiting import PASSWORD, Answer, Served, Visit, serving

PEOPLE = {"vera": Role.VIEWER, "peter": Role.PREPARER, "anna": Role.APPROVER, "adam": Role.ADMINISTRATOR}
WHO: dict[str, Role | None] = {"nobody": None, **PEOPLE}
TAKES_LONG = ("/register/download",)  # a register is made for each who may have one
CHANGING = [route for route in ROUTES if route.method != "GET"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(Desk(tmp_path_factory.mktemp("desk")), people=PEOPLE) as page:
        yield page


@pytest.fixture(scope="module")
def visits(served: Served) -> dict[str, Visit]:
    return {who: served.logged_in(who) if role else served.visit() for who, role in WHO.items()}


def _path(route: Route) -> str:
    """The address of a route, with something at its places."""
    path = route.path
    while "{" in path:
        path = path[: path.index("{")] + "1" + path[path.index("}") + 1 :]
    return path


def _name(value: object) -> str:
    return f"{value.method} {value.path}" if isinstance(value, Route) else str(value)


def _may(who: str, route: Route) -> bool:
    role = WHO[who]
    return route.least is None or (role is not None and role >= route.least)


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize(
    "route",
    [pytest.param(route, marks=[pytest.mark.slow] if route.path in TAKES_LONG else []) for route in ROUTES],
    ids=_name,
)
def test_a_route_is_closed_below_its_role_and_open_from_it_on(
    served: Served, visits: dict[str, Visit], route: Route, who: str
) -> None:
    visit = visits[who]
    if _may(who, route):
        if route.method == "GET" and route.path != "/open":
            answer = visit.get(_path(route))
            assert answer.status not in (401, 403, 500), answer.said
            assert not answer.location.startswith("/login")
        if route.method == "POST" and route.least is not None:
            answer = _allowed(served, visit, who, route)
            assert answer.status not in (401, 403, 500), answer.said
            assert route.path == "/logout" or not answer.location.startswith("/login")
        return
    # With a token that is good, so that it is the role that closes it.
    token = visit.get("/account" if WHO[who] else "/login").csrf
    answer = visit.ask(route.method, _path(route), X_CSRF_Token=token)
    if who == "nobody":
        assert (answer.status, answer.location.partition("?")[0]) == (303, "/login")
        assert (
            visit.ask(route.method, _path(route), X_CSRF_Token=token, Accept="application/json").status == 401
        )
    else:
        assert answer.status == 403
        assert "Your role does not allow this" in answer.said


def _allowed(served: Served, visit: Visit, who: str, route: Route) -> Answer:
    """What is answered to a form with nothing in it but the token and the password; whoever logs out does so elsewhere."""
    if route.path == "/logout":
        visit = served.logged_in(who)
    return visit.post(_path(route), {"present": PASSWORD}, X_CSRF_Token=visit.get("/account").csrf)


def _bare(visit: Visit, route: Route) -> Any:
    return visit.post(_path(route), {})


def _wrong(visit: Visit, route: Route) -> Any:
    return visit.post(_path(route), {"csrf": "0" * 64})


def _of_another(visit: Visit, route: Route) -> Any:
    other = Visit(visit.address)
    return visit.post(_path(route), {"csrf": other.get("/login").csrf})


def _from_elsewhere(visit: Visit, route: Route) -> Any:
    return visit.ask("POST", _path(route), X_CSRF_Token=_token(visit), Origin="https://evil.example")


def _across_sites(visit: Visit, route: Route) -> Any:
    return visit.ask("POST", _path(route), X_CSRF_Token=_token(visit), Sec_Fetch_Site="cross-site")


def _as_upload(visit: Visit, route: Route) -> Any:
    body = b'--x\r\nContent-Disposition: form-data; name="csrf"\r\n\r\nwrong\r\n--x--\r\n'
    return visit.ask("POST", _path(route), body, Content_Type="multipart/form-data; boundary=x")


def _token(visit: Visit) -> str:
    return visit.get("/account").csrf or visit.get("/login").csrf


@pytest.mark.parametrize("who", ["nobody", "adam"])
@pytest.mark.parametrize("forged", [_bare, _wrong, _of_another, _from_elsewhere, _across_sites, _as_upload])
@pytest.mark.parametrize("route", CHANGING, ids=_name)
def test_nothing_is_changed_without_the_token_of_the_visitor(
    visits: dict[str, Visit], route: Route, who: str, forged: Callable[[Visit, Route], Any]
) -> None:
    if not _may(who, route):
        return
    answer = forged(visits[who], route)
    assert answer.status == 403
    assert "nothing was changed" in answer.said
    assert not answer.headers.get_all("Set-Cookie") or who == "nobody"


def test_a_method_that_no_route_has_is_refused(visits: dict[str, Visit]) -> None:
    for method in ("PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "PROPFIND"):
        answer = visits["adam"].ask(method, "/account", X_CSRF_Token=_token(visits["adam"]))
        assert answer.status in (404, 405), method


def test_the_table_has_each_route_once_and_everything_that_changes_something_is_a_post() -> None:
    places = [(route.method, route.path) for route in ROUTES]
    assert len(places) == len(set(places))
    assert {route.method for route in ROUTES} <= {"GET", "POST"}
    open_to_all = {route.path for route in ROUTES if route.least is None}
    assert open_to_all == {"/healthz", "/static/{version}/{name}", "/login", "/open", "/link", "/language"}


def test_the_navigation_shows_what_a_role_may_do(visits: dict[str, Visit]) -> None:
    may = {(route.method, route.path): route.least for route in ROUTES}
    for who, role in PEOPLE.items():
        page = visits[who].get("/account").text
        for path, least in ((path, least) for (method, path), least in may.items() if method == "GET"):
            if f'href="{path}"' in page and least is not None:
                assert role >= least, (who, path)

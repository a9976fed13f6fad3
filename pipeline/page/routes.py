"""Every route of the page, with the least role that may use it: the one table, by which everything is checked."""

from collections.abc import Awaitable, Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial

from aiohttp import web

from pipeline.page import (
    view_account,
    view_buyers,
    view_columns,
    view_deadlines,
    view_home,
    view_itineraries,
    view_ledger,
    view_login,
    view_month,
    view_reconcile,
    view_register,
    view_requests,
    view_result,
    view_rows,
    view_runs,
    view_send,
    view_static,
    view_ticket,
    view_unknown,
    view_work,
)
from pipeline.page.visitor import Role
from pipeline.page.work import Kind


@dataclass(frozen=True)
class Route:
    """One route. `least`: None where no login is needed. `background`: asked for by the script alone, so that it is no sign of a person."""

    method: str
    path: str
    handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    least: Role | None
    background: bool = False


def _of_work(path: str, kinds: Collection[Kind], least: Role) -> Iterator[Route]:
    """How work of these kinds stands, and the files that it wrote."""
    live, file = partial(view_work.live, kinds=kinds), partial(view_work.file, kinds=kinds)
    yield Route("GET", f"{path}/{{work}}/live", live, least, background=True)
    yield Route("GET", f"{path}/{{work}}/{{name}}", file, least)


ROUTES = (
    Route("GET", "/healthz", view_static.healthz, None, background=True),
    Route("GET", "/static/{version}/{name}", view_static.static, None, background=True),
    Route("GET", "/login", view_login.login_form, None),
    Route("POST", "/login", view_login.login, None),
    Route("GET", "/open", view_login.open_by_link, None),
    Route("POST", "/link", view_login.another_link, None),
    Route("POST", "/language", view_login.language, None),
    Route("POST", "/logout", view_login.logout, Role.VIEWER),
    Route("GET", "/account", view_account.account, Role.VIEWER),
    Route("POST", "/account/password", view_account.own_password, Role.VIEWER),
    Route("POST", "/account/sessions", view_account.end_other_sessions, Role.VIEWER),
    Route("GET", "/", view_home.home, Role.VIEWER),
    Route("POST", "/months", view_home.new_month, Role.PREPARER),
    Route("GET", "/months/{month}", view_month.month, Role.VIEWER),
    Route("GET", "/months/{month}/state", view_month.state, Role.VIEWER, background=True),
    Route("POST", "/months/{month}/files", view_month.add_files, Role.PREPARER),
    Route("POST", "/months/{month}/take-out", view_month.take_out, Role.PREPARER),
    Route("POST", "/months/{month}/reconcile", view_month.reconcile_with, Role.APPROVER),
    Route("POST", "/months/{month}/judge", view_month.judge_again, Role.PREPARER),
    Route("GET", "/months/{month}/results/{name}", view_month.result, Role.VIEWER),
    Route("POST", "/months/{month}/result", view_result.write, Role.PREPARER),
    Route("GET", "/months/{month}/result/live", view_result.live, Role.VIEWER, background=True),
    Route("GET", "/months/{month}/rows", view_rows.rows, Role.VIEWER),
    Route("GET", "/months/{month}/rows/{row}", view_rows.row, Role.VIEWER),
    Route("GET", "/months/{month}/rows/{row}/state", view_rows.row_state, Role.VIEWER, background=True),
    Route("POST", "/months/{month}/rows/{row}", view_rows.correct, Role.PREPARER),
    Route("POST", "/months/{month}/take-back", view_rows.take_back, Role.PREPARER),
    Route("GET", "/months/{month}/buyers", view_buyers.buyers, Role.VIEWER),
    Route("POST", "/months/{month}/buyers", view_buyers.correct, Role.PREPARER),
    Route("GET", "/months/{month}/requests", view_requests.requests, Role.VIEWER),
    Route("POST", "/months/{month}/propose", view_send.propose, Role.PREPARER),
    Route("POST", "/months/{month}/approve", view_send.approve, Role.APPROVER),
    Route("GET", "/months/{month}/send", view_send.question, Role.APPROVER),
    Route("POST", "/months/{month}/send", view_send.send, Role.APPROVER),
    Route("POST", "/months/{month}/stop", view_send.stop, Role.APPROVER),
    Route("GET", "/months/{month}/columns", view_columns.columns, Role.VIEWER),
    Route("GET", "/months/{month}/columns/live", view_columns.columns_live, Role.VIEWER, background=True),
    Route("POST", "/months/{month}/columns", view_columns.change, Role.PREPARER),
    Route("GET", "/months/{month}/columns.toml", view_columns.mapping, Role.VIEWER),
    Route("GET", "/deadlines", view_deadlines.deadlines, Role.VIEWER),
    Route("GET", "/unknown", view_unknown.unknown, Role.VIEWER),
    Route("POST", "/unknown", view_unknown.answer, Role.APPROVER),
    Route("GET", "/reconcile", view_reconcile.reconcile_form, Role.VIEWER),
    Route("POST", "/reconcile", view_reconcile.reconcile, Role.APPROVER),
    Route("GET", "/reconcile/statement.csv", view_reconcile.made_up_statement, Role.VIEWER),
    Route("GET", "/reconcile/{work}", view_reconcile.reconciliation, Role.VIEWER),
    *_of_work("/reconcile", view_reconcile.KINDS, Role.VIEWER),
    Route("GET", "/itineraries", view_itineraries.itineraries, Role.VIEWER),
    Route("POST", "/itineraries", view_itineraries.collect, Role.APPROVER),
    Route("GET", "/itineraries/{work}", view_itineraries.collection, Role.VIEWER),
    Route("POST", "/itineraries/{work}/again", view_itineraries.collect_again, Role.APPROVER),
    *_of_work("/itineraries", view_itineraries.KINDS, Role.VIEWER),
    Route("GET", "/register", view_register.register_form, Role.VIEWER),
    Route("GET", "/register/download", view_register.download, Role.VIEWER),
    Route("GET", "/register/{work}", view_register.register, Role.VIEWER),
    *_of_work("/register", view_register.KINDS, Role.VIEWER),
    Route("GET", "/tickets", view_ticket.search, Role.VIEWER),
    Route("GET", "/tickets/{ticket}", view_ticket.ticket, Role.VIEWER),
    Route("GET", "/runs", view_runs.runs, Role.VIEWER),
    Route("GET", "/ledger", view_ledger.ledger, Role.ADMINISTRATOR),
    Route("POST", "/ledger/check", view_ledger.check, Role.ADMINISTRATOR),
    Route("POST", "/ledger/backup", view_ledger.backup, Role.ADMINISTRATOR),
    Route("POST", "/ledger/gap", view_ledger.mark_gap, Role.ADMINISTRATOR),
    Route("POST", "/ledger/gap/close", view_ledger.close_gap, Role.ADMINISTRATOR),
    Route("GET", "/ledger/{work}", view_ledger.ledger_work, Role.ADMINISTRATOR),
    *_of_work("/ledger", view_ledger.KINDS, Role.ADMINISTRATOR),
)
BACKGROUND = frozenset((route.method, route.path) for route in ROUTES if route.background)

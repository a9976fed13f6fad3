"""The page over a ledger that several machines share, with a real server and a carrier of its own."""

from pathlib import Path

import pytest

from tests.acceptance.conftest import Desk, running_sandbox, tickets, write_workbook
from tests.acceptance.page.test_month_on_page import judged, sent, settled, state, totals
from tests.acceptance.page.visiting import PASSWORD, serving
from tests.acceptance.test_handbook import told
from tests.conftest import needs_tool
from tests.postgresql_server import programs, server

pytestmark = pytest.mark.slow


def test_a_month_is_sent_and_looked_at_over_a_shared_ledger(desk: Desk) -> None:
    found = programs()
    needs_tool("PostgreSQL's server", found)
    assert found
    book = write_workbook(desk.folder / "october.xlsx", tickets(3))
    with server(found) as one, running_sandbox(desk, book) as carrier:
        url, name = one.url(one.new_database()), f"postgresql://127.0.0.1:{one.port}/"
        where = ("--profile", desk.profile(carrier.base_url), "--ledger", url)
        refused = desk.voucher("serve", *where, "--sandbox")
        assert (refused.code, "--sandbox" in refused.err) == (2, True)
        missing = desk.voucher("serve", *where, "--listen", "127.0.0.1:0")
        assert (missing.code, "no ledger yet" in missing.err) == (2, True)
        assert desk.voucher("ledger", "prepare", *where).code == 0
        with serving(desk, *where, sandbox=False) as page:
            visit = page.local()
            month = judged(visit, book)
            assert totals(visit.get(month)) == {"ready": 3}
            sent(visit, month)
            done = settled(visit, month)
            assert (state(done), totals(done)) == ("sent", {"issued": 3}), done.said
            assert carrier.issued()[0]["number"] in visit.get("/tickets/9990000000001").said
            ledger = visit.get("/ledger")
            assert name in ledger.said
            assert 'action="/ledger/backup"' not in ledger.text
            begun = visit.submit("/ledger", "/ledger/check")
            assert begun.status == 303
            assert "Sound" in visit.until(begun.location, lambda answer: "data-live" not in answer.text).said
            visit.submit(month, f"{month}/judge")
            assert totals(settled(visit, month)) == {"already_issued": 3}
        assert carrier.twice() == []
        told(desk, f"{PASSWORD}\n", "user", "add", "anna", "--role", "administrator", *map(str, where))
        (own,) = Path(desk.folder, ".local", "share", "voucher-pipeline").glob("*.page")
        assert "@" not in own.name
        with serving(desk, *where, sandbox=False) as page:
            assert page.visit().log_in("anna").status == 303

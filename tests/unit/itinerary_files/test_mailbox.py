"""New mails of a mailbox, from a real server: all of them, at least once, unmarked; and what is told when it can't be opened."""

import contextlib
import json
import os
import re
import shutil
import socket
import stat
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pipeline.itinerary_files import mailbox
from pipeline.itinerary_files.find_files import found_files
from pipeline.itinerary_files.mailbox import Mailbox, NewMails, fetch_new_mails, mailbox_at
from pipeline.model.errors import InputProblem, Stop
from pipeline.model.itinerary_file import FileStatus
from pipeline.secret_keys import MailboxPassword
from tests.conftest import needs_tool
from tests.unit.itinerary_files import imap_server
from tests.unit.itinerary_files.containers import attached, mail, ofd, text_mail
from tests.unit.itinerary_files.imap_server import FOREIGN, PASSWORD, ImapServer

SECRET = MailboxPassword(PASSWORD)
ONE, TWO = mail(attached(ofd("1")), subject=b"one"), mail(attached(ofd("2")), subject="行程单".encode("gbk"))


@pytest.fixture(scope="module")
def _running() -> Iterator[ImapServer]:
    needs_tool("dovecot", imap_server.PROGRAM.exists())
    needs_tool("openssl", shutil.which("openssl"))
    needs_tool("root, as whom dovecot is started,", os.geteuid() == 0)
    with imap_server.running() as server:
        yield server


@pytest.fixture
def server(_running: ImapServer) -> Iterator[ImapServer]:
    yield _running
    _running.empty()


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state" / "mailboxes.json"


@pytest.fixture
def fetch(server: ImapServer, state: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """New mails of a folder, as a run gets them."""

    def fetched(url: str = "", password: str = PASSWORD) -> NewMails:
        at = mailbox_at(url or server.url())
        return fetch_new_mails(
            at, MailboxPassword(password), state, tmp_path_factory.mktemp("scratch"), server.ca_file
        )

    return fetched


def contents(mails: NewMails) -> list[bytes]:
    return [path.read_bytes() for path in mails.files]


def failed(run: Any, *given: str) -> Stop:
    """What a run stops with; no word of a password is in all that is said of it."""
    with pytest.raises(Stop) as stopped:
        run(*given)
    assert "s3cret" not in "".join(traceback.format_exception(stopped.value))
    assert stopped.value.__cause__ is None
    return stopped.value


def test_new_mails_are_saved_byte_for_byte_and_known_by_subject_and_day(
    server: ImapServer, fetch: Any
) -> None:
    server.deliver(ONE, TWO)
    mails = fetch()
    assert contents(mails) == [ONE, TWO]
    assert list(mails.names.values()) == ["one 2026-09-08", "行程单 2026-09-08"]
    assert (mails.passed_over, mails.remaining) == ((), 0)
    assert {stat.S_IMODE(path.stat().st_mode) for path in mails.files} == {0o600}
    assert [one.place for one in found_files(mails.files, mails.names)] == [
        ("one 2026-09-08", "x.ofd"), ("行程单 2026-09-08", "x.ofd"),
    ]  # fmt: skip


def test_reading_marks_nothing(server: ImapServer, fetch: Any) -> None:
    server.deliver(ONE)
    fetch().dealt_with()
    client = server.client()
    client.select("INBOX", readonly=True)
    assert client.fetch("1", "(FLAGS)") == ("OK", [b"1 (FLAGS (\\Recent))"]), "not even that it was listed"
    client.logout()


def test_mails_come_again_until_they_are_dealt_with_and_then_never(
    server: ImapServer, fetch: Any, state: Path
) -> None:
    assert contents(fetch()) == [], "an empty folder"
    server.deliver(ONE)
    assert contents(fetch()) == [ONE]
    assert not state.exists()
    mails = fetch()
    assert contents(mails) == [ONE], "the run was killed before"
    mails.dealt_with()
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    assert contents(fetch()) == [], "though `n:*` names the last one"
    server.deliver(TWO)
    assert contents(fetch()) == [TWO]
    fetch().dealt_with()
    assert contents(fetch()) == []


def test_one_that_came_while_others_were_dealt_with_is_new(server: ImapServer, fetch: Any) -> None:
    server.deliver(ONE)
    mails = fetch()
    server.deliver(TWO)
    mails.dealt_with()
    assert contents(fetch()) == [TWO]


def test_a_run_that_was_further_is_not_forgotten(server: ImapServer, fetch: Any) -> None:
    server.deliver(ONE)
    early = fetch()
    server.deliver(TWO)
    fetch().dealt_with()
    early.dealt_with()
    assert contents(fetch()) == []


def test_a_folder_that_the_server_has_renumbered_is_read_anew(server: ImapServer, fetch: Any) -> None:
    server.deliver(ONE, TWO)
    fetch().dealt_with()
    server.renumber()
    mails = fetch()
    assert contents(mails) == [ONE, TWO]
    assert contents(fetch()) == [ONE, TWO], "until they are dealt with"
    mails.dealt_with()
    assert contents(fetch()) == []


@pytest.mark.slow
def test_each_mailbox_and_folder_is_remembered_by_itself(server: ImapServer, fetch: Any, state: Path) -> None:
    server.deliver(ONE)
    server.deliver(TWO, user="other")
    client = server.client()
    client.create('"&iEx6C1NV-"')
    client.append('"&iEx6C1NV-"', None, None, TWO)  # type: ignore[arg-type]
    client.logout()
    of_other = server.url(user="other")
    of_folder = server.url("行程单")
    fetch().dealt_with()
    assert contents(fetch(of_other, FOREIGN)) == [TWO], "a password that is not ASCII"
    fetch(of_other, FOREIGN).dealt_with()
    mails = fetch(of_folder)
    assert contents(mails) == [TWO]
    mails.dealt_with()
    assert len(json.loads(state.read_text())) == 3
    assert [contents(fetch(*one)) for one in ((), (of_other, FOREIGN), (of_folder,))] == [[], [], []]


def test_a_mail_comes_in_pieces_and_is_whole(
    server: ImapServer, fetch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailbox, "_PIECE", 100)
    mails = [b"Subject: x\r\n\r\n" + b"y" * (size - 14) for size in (99, 100, 101, 200, 1_234)]
    server.deliver(*mails)
    assert contents(fetch()) == mails


@pytest.mark.slow
def test_a_mail_that_is_too_large_is_named_and_passed_over_once(
    server: ImapServer, fetch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailbox, "LARGEST_MAIL", 2_000)
    large = mail(attached(b"x" * 3_000), subject=b"=?utf-8?B?6KGM56iL5Y2V?=")
    server.deliver(ONE, large, TWO)
    mails = fetch()
    assert contents(mails) == [ONE, TWO]
    (over,) = mails.passed_over
    assert (over.place, over.problem) == (("行程单 2026-09-08",), FileStatus.UNREADABLE)
    assert str(over.reason).startswith("it is larger than a mail may be")
    monkeypatch.setattr(mailbox, "_sizes", lambda _, uids: ((uid, 0) for uid in uids))
    again = fetch()
    assert (contents(again), again.passed_over) == ([ONE, TWO], mails.passed_over), (
        "whatever the server says of its size"
    )
    assert sorted(path.name for path in again.files[0].parent.iterdir()) == ["1.eml", "3.eml"]
    mails.dealt_with()
    assert fetch().passed_over == ()


@pytest.mark.slow
def test_a_folder_of_many_mails_is_read_in_several_times(
    server: ImapServer, fetch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    mails = [text_mail(str(number)) for number in range(5)]
    server.deliver(*mails)
    monkeypatch.setattr(mailbox, "MOST_MAILS", 2)
    some = []
    for left in (3, 1, 0, 0):
        new = fetch()
        assert new.remaining == left
        new.dealt_with()
        some.append(len(new.files))
    assert some == [2, 2, 1, 0]
    server.renumber()
    monkeypatch.setattr(mailbox, "MOST_BYTES", 2 * len(mails[0]))
    assert [len(fetch().files), fetch().remaining] == [2, 3]


def test_a_mail_that_is_gone_before_it_is_read_is_no_problem(
    server: ImapServer, fetch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.deliver(ONE)
    monkeypatch.setattr(mailbox, "_sizes", lambda _, uids: iter([*((uid, 1) for uid in uids), (99, 1)]))
    mails = fetch()
    assert (contents(mails), mails.passed_over) == ([ONE], ())


def test_without_tls_a_mailbox_of_this_machine_is_read(server: ImapServer, fetch: Any) -> None:
    server.deliver(ONE)
    assert contents(fetch(f"imap://finance@127.0.0.1:{server.plain}")) == [ONE]


def test_a_server_that_quotes_what_is_short_is_understood(tmp_path: Path) -> None:
    begin = [
        b"* OK x\r\n",
        b"* CAPABILITY IMAP4rev1\r\n1 OK x\r\n",
        b"2 OK x\r\n",
        b"* 1 EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n3 OK x\r\n",
    ]
    said = [*begin, b"* SEARCH 7\r\n4 OK x\r\n", b"* 1 FETCH (UID 7 RFC822.SIZE 14)\r\n5 OK x\r\n"]
    said += [
        b'* 1 FETCH (FLAGS ())\r\n* 1 FETCH (UID 7 BODY[]<0> "Subject: \\"x\\\\")\r\n6 OK x\r\n',
        b"* BYE\r\n7 OK x\r\n",
    ]
    with socket.create_server(("127.0.0.1", 0)) as listening:
        talk = threading.Thread(target=_say, args=(listening, said))
        talk.start()
        at = mailbox_at(f"imap://a@127.0.0.1:{listening.getsockname()[1]}")
        mails = fetch_new_mails(at, SECRET, tmp_path / "state", tmp_path)
        talk.join()
    assert contents(mails) == [b'Subject: "x\\']


class TestOfFailures:
    """What can't be opened, and what breaks off: said with its cure, and nothing is forgotten."""

    @pytest.mark.slow
    def test_a_wrong_password(self, server: ImapServer, fetch: Any) -> None:
        problem = failed(fetch, server.url(), "wrong s3cret")
        assert isinstance(problem, InputProblem)
        assert str(problem) == (
            f"imaps://finance@127.0.0.1:{server.tls}/INBOX: the server refused the login; check the user's name, and the password in"
            " VOUCHER_MAILBOX_PASSWORD: many providers want one that is made for programs, and IMAP switched on in the mailbox's settings"
        )

    def test_no_such_folder(self, server: ImapServer, fetch: Any) -> None:
        problem = failed(fetch, server.url("没有"))
        assert isinstance(problem, InputProblem)
        assert "/没有: the folder 没有 can't be opened (" in str(problem)
        assert str(problem).endswith("); check how it is called on the server")

    def test_a_certificate_that_is_not_trusted(self, server: ImapServer, state: Path, tmp_path: Path) -> None:
        at = mailbox_at(server.url())
        problem = failed(lambda: fetch_new_mails(at, SECRET, state, tmp_path))
        assert isinstance(problem, InputProblem)
        assert "the server's certificate is not trusted (unable to get local issuer certificate)" in str(
            problem
        )
        assert "name its file as ca_file under [carrier]" in str(problem)

    def test_a_certificate_of_another_host(self, server: ImapServer, fetch: Any) -> None:
        problem = failed(fetch, server.url(host="localhost"))
        assert isinstance(problem, InputProblem)
        assert "the server's certificate is not trusted (Hostname mismatch" in str(problem)

    @pytest.mark.parametrize("content", [None, "no certificate"])
    def test_a_file_of_certificates_that_is_none(self, tmp_path: Path, content: str | None) -> None:
        path = tmp_path / "ca.pem"
        if content:
            path.write_text(content)
        at = mailbox_at("imaps://a@127.0.0.1:1")
        problem = failed(lambda: fetch_new_mails(at, SECRET, tmp_path / "state", tmp_path, str(path)))
        assert isinstance(problem, InputProblem)
        assert f"{path}: can't be read as certificates" in str(problem)

    def test_a_server_that_is_not_there(self, tmp_path: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as one:
            port = one.getsockname()[1]
        at = mailbox_at(f"imaps://a@127.0.0.1:{port}")
        problem = failed(lambda: fetch_new_mails(at, SECRET, tmp_path / "state", tmp_path))
        assert problem.exit_code == 3
        assert str(problem) == (
            f"imaps://a@127.0.0.1:{port}/INBOX: the server can't be reached (Connection refused); check host, port and connection, then"
            " run the same command again"
        )

    @pytest.mark.parametrize(
        "lines",
        [
            [],
            [b"* BYE\r\n"],
            [b"rubbish\r\n"],
            [b"* OK x\r\n", b"* CAPABILITY IMAP4rev1\r\n1 OK x\r\n"],
            [b"* OK x\r\n", b"* CAPABILITY IMAP4rev1\r\n1 OK x\r\n", b"2 OK x\r\n", b"* 1 EXISTS\r\n3 OK x\r\n"],
            [b"* OK x\r\n", b"* CAPABILITY IMAP4rev1\r\n1 OK x\r\n", b"2 OK x\r\n", b"* 1 EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n3 OK x\r\n", b"* SEARCH 1\r\n4 OK x\r\n", b"5 NO x\r\n"],
            [b"* OK x\r\n", b"* CAPABILITY IMAP4rev1\r\n1 OK x\r\n", b"2 OK x\r\n", b"* 1 EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n3 OK x\r\n", b"* SEARCH x\r\n4 OK x\r\n"],
        ],
    )  # fmt: skip
    def test_a_server_that_breaks_off_or_talks_rubbish(self, tmp_path: Path, lines: Sequence[bytes]) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            talk = threading.Thread(target=_say, args=(listening, lines))
            talk.start()
            at = mailbox_at(f"imap://a@127.0.0.1:{listening.getsockname()[1]}")
            problem = failed(lambda: fetch_new_mails(at, SECRET, tmp_path / "state", tmp_path))
            talk.join()
        assert problem.exit_code == 3
        assert "the server broke off, or said what can't be understood (" in str(problem)
        assert not (tmp_path / "state").exists()

    def test_a_server_that_repeats_what_it_was_sent(self, tmp_path: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            said = [
                b"* OK x\r\n",
                b"* CAPABILITY IMAP4rev1\r\n1 OK x\r\n",
                b"2 BAD LOGIN a " + PASSWORD.encode() + b"\r\n",
                b"3 OK x\r\n",
            ]
            talk = threading.Thread(target=_say, args=(listening, said))
            talk.start()
            at = mailbox_at(f"imap://a@127.0.0.1:{listening.getsockname()[1]}")
            problem = failed(lambda: fetch_new_mails(at, SECRET, tmp_path / "state", tmp_path))
            talk.join()
        assert "the server refused the login" in str(problem)

    def test_the_extra_is_not_installed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "imap_tools", None)
        at = mailbox_at("imaps://a@127.0.0.1")
        problem = failed(lambda: fetch_new_mails(at, SECRET, tmp_path / "state", tmp_path))
        assert (
            str(problem)
            == "--mailbox: needs the extra mailbox; install it with: pip install 'voucher-pipeline[mailbox]'"
        )

    @pytest.mark.parametrize("text", ["", "[]", "{", '{"imaps://a": 1}', '{"imaps://a": ["x", 1]}', "\0"])
    def test_a_state_that_is_damaged(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "state").write_text(text)
        at = mailbox_at("imaps://a@127.0.0.1:1")
        problem = failed(lambda: fetch_new_mails(at, SECRET, tmp_path / "state", tmp_path))
        assert str(problem) == (
            f"{tmp_path}/state: can't be read (it is not as this program writes it); check its permissions, or delete it: all mails of the"
            " folder are read anew then"
        )

    def test_a_disk_that_is_full(
        self, server: ImapServer, fetch: Any, state: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        server.deliver(ONE)
        mails = fetch()

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(mailbox, "place_over", full)
            assert "mailboxes.json: can't be written (No space left on device)" in str(
                failed(mails.dealt_with)
            )
        assert list(state.parent.iterdir()) == []
        with monkeypatch.context() as patch:
            patch.setattr(os, "fdopen", full)
            patch.setattr(os, "open", full)
            assert "1.eml: can't be written (No space left on device)" in str(failed(fetch))
        assert contents(fetch()) == [ONE]


def _say(listening: socket.socket, lines: Sequence[bytes]) -> None:
    """Be a server that says one thing to each line that it is sent, and hangs up; the numbers before its words stand for tags."""
    with contextlib.suppress(OSError), listening.accept()[0] as line, line.makefile("rb") as heard:
        tag = b""
        for number, words in enumerate(lines):
            if number:
                tag = heard.readline().split(b" ")[0]
            line.sendall(re.sub(rb"(?m)^%d (?=OK|NO|BAD)" % number, lambda _, tag=tag: tag + b" ", words))
        line.shutdown(socket.SHUT_WR)
        heard.read()  # what nobody has read would make a reset of the end


class TestOfAddresses:
    """What `--mailbox` takes."""

    @pytest.mark.parametrize(
        ("url", "found"),
        [
            ("imaps://a@mail.example", Mailbox("mail.example", 993, "a", "INBOX", True)),
            ("imaps://a@mail.example/", Mailbox("mail.example", 993, "a", "INBOX", True)),
            (
                "imaps://a@b.cn@mail.example:1993/Work/行程单",
                Mailbox("mail.example", 1993, "a@b.cn", "Work/行程单", True),
            ),
            ("imaps://a%40b.cn@mail.example/a%20b", Mailbox("mail.example", 993, "a@b.cn", "a b", True)),
            ("imaps://a@[2001:db8::1]:1/x", Mailbox("2001:db8::1", 1, "a", "x", True)),
            ("imap://a@localhost", Mailbox("localhost", 143, "a", "INBOX", False)),
            ("imap://a@[::1]", Mailbox("::1", 143, "a", "INBOX", False)),
        ],
    )
    def test_an_address_is_read(self, url: str, found: Mailbox) -> None:
        assert mailbox_at(url) == found
        assert mailbox_at(str(found)) == found

    @pytest.mark.parametrize(
        "url",
        ["", "mail.example", "imaps://mail.example/INBOX", "https://a@b/", "imaps://a@", "imaps://a@b:0/", "imaps://a@b:70000/",
         "imaps://a@b:x/", "imaps://a%0d%0ax@b/", "imaps://a@b/%0aLOGOUT", "imaps://a@b\n/"],
    )  # fmt: skip
    def test_what_is_no_address_is_refused(self, url: str) -> None:
        with pytest.raises(InputProblem, match="must be imaps://user@host/FOLDER"):
            mailbox_at(url)

    @pytest.mark.parametrize(
        "url",
        [
            "imap://a@mail.example",
            "imap://127.0.0.1/@mail.example/x",
            "imap://a@10.0.0.1",
            "imap://localhost@mail.example",
        ],
    )
    def test_off_this_machine_tls_is_a_must(self, url: str) -> None:
        with pytest.raises(InputProblem, match="must begin with imaps"):
            mailbox_at(url)

    def test_a_password_in_the_address_is_refused_without_being_repeated(self) -> None:
        with pytest.raises(InputProblem) as problem:
            mailbox_at(f"imaps://a:{PASSWORD}@mail.example/INBOX")
        assert "s3cret" not in "".join(traceback.format_exception(problem.value))
        assert (
            "must not hold a password; put it into the environment variable VOUCHER_MAILBOX_PASSWORD"
            in str(problem.value)
        )

"""A real IMAP server for tests: Debian's dovecot, as processes of its own, on free ports of loopback, its certificate by an authority of the test."""

import contextlib
import imaplib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PROGRAM = Path("/usr/sbin/dovecot")
PASSWORD = 'p"ass\\word s3cret'
FOREIGN = "密码s3cret"
_SETTINGS = """
protocols = imap
listen = 127.0.0.1
base_dir = {folder}/run
log_path = {folder}/log
ssl = yes
ssl_cert = <{folder}/server.pem
ssl_key = <{folder}/server.key
disable_plaintext_auth = no
mail_location = maildir:{folder}/mail/%u
first_valid_uid = 1
auth_failure_delay = 0
service anvil {{
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
passdb {{
  driver = passwd-file
  args = {folder}/users
}}
userdb {{
  driver = static
  args = uid=nobody gid=nogroup home={folder}/mail/%u
}}
service imap-login {{
  inet_listener imap {{
    port = {plain}
  }}
  inet_listener imaps {{
    port = {tls}
    ssl = yes
  }}
}}
"""


@dataclass
class ImapServer:
    """One that runs. Users `finance` and `other`, whose mails lie in Maildirs; `ca_file`: the authority's certificate."""

    folder: Path
    plain: int
    tls: int
    _delivered: int = field(default=0)

    @property
    def ca_file(self) -> str:
        return str(self.folder / "ca.pem")

    def url(self, folder: str = "", user: str = "finance", *, host: str = "127.0.0.1") -> str:
        return f"imaps://{user}@{host}:{self.tls}/{folder}"

    def deliver(self, *mails: bytes, user: str = "finance") -> None:
        """Put mails into a user's inbox, as a delivery agent does."""
        for mail in mails:
            self._delivered += 1
            path = self.mails(user) / "tmp" / f"17{self._delivered:08}.M1.test"
            path.write_bytes(mail)
            shutil.chown(path, "nobody")
            path.rename(self.mails(user) / "new" / path.name)

    def mails(self, user: str = "finance") -> Path:
        """A user's Maildir."""
        folder = self.folder / "mail" / user
        for name in ("", "cur", "new", "tmp"):
            if not (folder / name).is_dir():
                (folder / name).mkdir()
                shutil.chown(folder / name, "nobody", "nogroup")
        return folder

    def empty(self) -> None:
        """No mails and no memory of any."""
        for user in ("finance", "other"):
            shutil.rmtree(self.mails(user))

    def renumber(self, user: str = "finance") -> None:
        """Have the server give all mails new UIDs, under another UIDVALIDITY."""
        for path in self.mails(user).glob("dovecot*"):
            if path.name == "dovecot-uidlist":
                head, _, rest = path.read_text().partition("\n")
                version, _, others = head.split(" ", 2)
                path.write_text(f"{version} V99 {others}\n{rest}")
            else:
                path.unlink()

    def client(self) -> imaplib.IMAP4:
        """A mail program of somebody else."""
        client = imaplib.IMAP4("127.0.0.1", self.plain)
        client.login("finance", PASSWORD)
        return client


def _free_ports() -> tuple[int, int]:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        return one.getsockname()[1], two.getsockname()[1]


def _certify(folder: Path) -> None:
    """An authority, and a certificate of it for 127.0.0.1 alone."""
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    for command in (
        # Python 3.13 and later want to be told that it may sign.
        [*new, "-subj", "/CN=authority", "-addext", "keyUsage=critical,keyCertSign", "-keyout", "ca.key", "-out", "ca.pem"],
        [*new, "-subj", "/CN=mail", "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE",
         "-CA", "ca.pem", "-CAkey", "ca.key", "-keyout", "server.key", "-out", "server.pem"],
    ):  # fmt: skip
        subprocess.run(command, cwd=folder, check=True, capture_output=True)


@contextlib.contextmanager
def running() -> Iterator[ImapServer]:
    """The server, until the context ends; needs root."""
    with tempfile.TemporaryDirectory(prefix="imap-", dir="/tmp") as name:  # a socket's path is short
        folder = Path(name)
        folder.chmod(0o755)
        _certify(folder)
        (folder / "mail").mkdir()
        (folder / "mail").chmod(0o777)
        (folder / "users").write_text(f"finance:{{PLAIN}}{PASSWORD}\nother:{{PLAIN}}{FOREIGN}\n")
        server = ImapServer(folder, *_free_ports())
        settings = folder / "dovecot.conf"
        settings.write_text(_SETTINGS.format(folder=folder, plain=server.plain, tls=server.tls))
        process = subprocess.Popen(
            [PROGRAM, "-F", "-c", settings], env={"PATH": os.defpath}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            _wait_for(server, process)
            yield server
        finally:
            process.terminate()
            try:
                process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()


def _wait_for(server: ImapServer, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + 30
    while True:
        if process.poll() is not None:
            raise RuntimeError(process.communicate()[0].decode())
        try:
            with socket.create_connection(("127.0.0.1", server.plain), 5) as one:
                if one.recv(4) == b"* OK":
                    return
        except OSError:
            if time.monotonic() > until:
                raise
        time.sleep(0.02)

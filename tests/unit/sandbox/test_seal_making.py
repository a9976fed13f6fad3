"""The seal and its certificates, judged by OpenSSL's own SM2 and SM3."""

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline.sandbox.seal_certificates import ROOT, SEAL_MAKER, SEAL_USER, Identity, certificate, pem
from pipeline.sandbox.seal_making import seal, signed_value
from tests.unit.sandbox.der_reading import Value, values

SM2_WITH_SM3 = bytes.fromhex("2a811ccf55018375")
WHERE = "/Doc_0/Signs/Sign_0/Signature.xml"
NOW = datetime(2026, 11, 20, 1, 2, 3, tzinfo=UTC)
#: The signer's name where none is agreed on (GB/T 35276).
NAME = "distid:1234567812345678"

Verify = Callable[[bytes, bytes, bytes], bool]
Command = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def command(tmp_path: Path, openssl: None) -> Command:  # noqa: ARG001 - it skips where there is none
    def run(*arguments: str) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(["openssl", *arguments], cwd=tmp_path, capture_output=True, check=False)

    return run


@pytest.fixture
def verifies(tmp_path: Path, command: Command) -> Verify:
    def verify(signer: bytes, data: bytes, signature: bytes) -> bool:
        (tmp_path / "signer.pem").write_text(pem(signer))
        (tmp_path / "data").write_bytes(data)
        (tmp_path / "signature").write_bytes(signature)
        ran = command(
            "pkeyutl", "-verify", "-certin", "-inkey", "signer.pem", "-rawin", "-digest", "sm3", "-in", "data",
            "-sigfile", "signature", "-pkeyopt", NAME,
        )  # fmt: skip
        assert ran.returncode in (0, 1), ran.stderr
        return ran.returncode == 0

    return verify


def bits(value: Value) -> bytes:
    assert (value.tag, value.content[0]) == (3, 0)
    return value.content[1:]


@pytest.mark.parametrize("of", [ROOT, SEAL_MAKER, SEAL_USER], ids=lambda of: of.common_name)
def test_openssl_takes_the_certificates(
    of: Identity, tmp_path: Path, command: Command, verifies: Verify
) -> None:
    (tmp_path / "root.pem").write_text(pem(certificate(ROOT)))
    (tmp_path / "one.pem").write_text(pem(certificate(of)))
    strictly = ("-x509_strict", "-vfyopt", NAME)
    assert command("verify", *strictly, "-CAfile", "root.pem", "one.pem").returncode == 0
    if of is not ROOT:
        assert command("verify", *strictly, "-CAfile", "one.pem", "one.pem").returncode != 0
    # OpenSSL does not look at a root's own signature, not even where it is asked to (-check_ss_sig fails with its own SM2 roots).
    (whole,) = values(certificate(of))
    to_sign, _, signature = whole.parts()
    assert verifies(certificate(ROOT), to_sign.whole, bits(signature))


def test_openssl_verifies_what_the_user_of_the_seal_signed(verifies: Verify) -> None:
    (signed,) = values(signed_value(b"<Signature/>", WHERE, NOW))
    to_sign, signer, algorithm, signature = signed.parts()
    assert algorithm.content == SM2_WITH_SM3
    assert signer.content == certificate(SEAL_USER)
    assert verifies(signer.content, to_sign.whole, bits(signature))
    assert not verifies(signer.content, to_sign.whole[:-1] + b"x", bits(signature))


def test_openssl_verifies_what_the_maker_of_the_seal_signed(verifies: Verify) -> None:
    (made,) = values(seal())
    info, maker, algorithm, signature = made.parts()
    assert algorithm.content == SM2_WITH_SM3
    assert maker.content == certificate(SEAL_MAKER)
    assert verifies(maker.content, info.whole, bits(signature))


def test_it_is_of_version_4_and_names_what_it_seals(tmp_path: Path, command: Command) -> None:
    (signed,) = values(signed_value(b"<Signature/>", WHERE, NOW))
    version, made, moment, digest, where = signed.parts()[0].parts()
    assert (version.tag, version.content) == (2, b"\4")
    assert made.whole == seal()
    assert (moment.tag, moment.content) == (0x18, b"20261120010203Z")
    assert where.content.decode() == WHERE
    (tmp_path / "signature.xml").write_bytes(b"<Signature/>")
    assert command("dgst", "-sm3", "-binary", "signature.xml").stdout == bits(digest)


def test_the_seal_lists_who_may_set_it_and_shows_a_picture() -> None:
    (made,) = values(seal())
    header, number, about, picture = made.parts()[0].parts()
    assert [part.content for part in header.parts()] == [b"ES", b"\4", b"SANDBOX"]
    assert number.tag == 0x16
    _, name, kind, users, *times = about.parts()
    assert "测试" in name.content.decode()
    assert (kind.content, [user.content for user in users.parts()]) == (b"\1", [certificate(SEAL_USER)])
    assert [time.content[:4] for time in times] == [b"2020", b"2020", b"2049"]
    form, drawn, width, height = picture.parts()
    assert (form.content, drawn.content[:8]) == (b"png", b"\x89PNG\r\n\x1a\n")
    assert (width.content, height.content) == (b"\x1e", b"\x14")

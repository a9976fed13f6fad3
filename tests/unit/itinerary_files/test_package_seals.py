"""Seals: what each state of a file's seals comes to, and OpenSSL's own certificates and signatures."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from pipeline import sm2
from pipeline.itinerary_files import certificates
from pipeline.itinerary_files.certificates import root_certificates
from pipeline.itinerary_files.itinerary_reader import read_itinerary
from pipeline.itinerary_files.read_answer import read_file
from pipeline.model.itinerary_file import FileStatus, ReadFile, SealStatus
from tests.unit.itinerary_files import ofd_files
from tests.unit.itinerary_files.ofd_files import (
    MAKER,
    PAGE,
    ROOT,
    SIGNATURE,
    SIGNATURES,
    SIGNER,
    VALUE,
    XBRL,
    Issued,
    Sealer,
    Voucher,
    issued,
    itinerary,
    parts,
    sealed,
    xbrl,
    zipped,
)

Parts = dict[str, bytes]


def read(package: bytes | Parts, *roots: bytes) -> ReadFile:
    whole = package if isinstance(package, bytes) else zipped(package)
    return read_file(orjson.dumps(read_itinerary(whole, roots)))


def seal_of(package: bytes | Parts, *roots: bytes) -> SealStatus:
    return read(package, *roots).seal


def test_a_seal_is_valid_by_a_pinned_root_alone() -> None:
    package = itinerary()
    assert seal_of(package, ROOT.certificate) is SealStatus.VALID
    assert seal_of(package) is SealStatus.INTACT
    assert seal_of(package, issued(99, "Test root").certificate) is SealStatus.INTACT


def test_who_is_pinned_is_trusted_as_it_is() -> None:
    assert seal_of(itinerary(), SIGNER.certificate, MAKER.certificate) is SealStatus.VALID
    assert seal_of(itinerary(), SIGNER.certificate) is SealStatus.INTACT  # who made the seal?


def test_a_chain_over_an_authority_that_is_pinned_or_is_not() -> None:
    between = issued(21, "Test authority", ROOT, authority=True)
    sealer = Sealer(signer=issued(22, "Signer below", between), maker=issued(23, "Maker below", between))
    assert seal_of(itinerary(None, sealer), between.certificate) is SealStatus.VALID
    assert (
        seal_of(itinerary(None, sealer), ROOT.certificate) is SealStatus.INTACT
    )  # the authority is not at hand
    by_maker = Sealer(signer=issued(24, "Signer", between), maker=between)
    assert seal_of(itinerary(None, by_maker), ROOT.certificate) is SealStatus.VALID
    no_authority = issued(25, "No authority", ROOT)
    by_nobody = Sealer(signer=issued(26, "Signer", no_authority), maker=no_authority)
    assert seal_of(itinerary(None, by_nobody), ROOT.certificate) is SealStatus.INTACT


def test_a_file_without_a_seal() -> None:
    file = read(itinerary(seal=False), ROOT.certificate)
    assert (file.seal, file.problem) == (SealStatus.NONE, None)


@pytest.mark.parametrize("part", [XBRL, PAGE, SIGNATURES, "Doc_0/Document.xml", "OFD.xml"])
def test_a_part_that_was_altered(part: str) -> None:
    altered = sealed(parts())
    altered[part] = altered[part].replace(b"?>", b"?><!-- . -->", 1)
    file = read(altered, ROOT.certificate)
    assert (file.seal, file.problem) == (SealStatus.BROKEN, FileStatus.ALTERED)
    assert [str(reason) for reason in file.reasons] == [f"its part {part} is not what was sealed"]
    assert file.data


def test_a_part_that_is_gone() -> None:
    altered = sealed(parts() | {"Doc_0/Res/picture.png": b"png"})
    del altered["Doc_0/Res/picture.png"]
    assert str(read(altered).reasons[0]) == "its part /Doc_0/Res/picture.png, which was sealed, is missing"


def test_a_part_that_was_added_is_not_under_the_seal() -> None:
    added = sealed(parts()) | {"Doc_0/Attachs/more.xml": xbrl({"Fare": "825.69"})}
    file = read(added, ROOT.certificate)
    assert (file.seal, file.problem) == (SealStatus.PARTIAL, None)
    assert file.data
    assert [str(note) for note in file.data.notes] == [
        "its part Doc_0/Attachs/more.xml is not under the seal"
    ]


def test_a_font_or_picture_need_not_be_under_the_seal() -> None:
    assert seal_of(sealed(parts()) | {"Doc_0/Res/font.ttf": b"font"}, ROOT.certificate) is SealStatus.VALID


def test_data_that_is_not_called_xml_has_to_be() -> None:
    page = {name.replace("Content.xml", "Content"): part for name, part in parts().items()}
    page["Doc_0/Document.xml"] = page["Doc_0/Document.xml"].replace(b"Content.xml", b"Content")
    assert seal_of(sealed(page), ROOT.certificate) is SealStatus.VALID
    left_out = Sealer(leaves_out=(PAGE.replace("Content.xml", "Content"),))
    assert seal_of(sealed(page, left_out), ROOT.certificate) is SealStatus.PARTIAL


def test_what_real_seals_do() -> None:
    without_root = Sealer(leaves_out=("OFD.xml",))
    rail = Sealer(method="sm3", stamp_annot=False)
    for sealer in (without_root, rail):
        assert seal_of(itinerary(None, sealer), ROOT.certificate) is SealStatus.VALID
    two = sealed(parts(), Sealer(), Sealer(signer=issued(31, "Seller", ROOT)))
    assert seal_of(two, ROOT.certificate) is SealStatus.VALID
    first_alone = {name: part for name, part in two.items() if "Sign_1" not in name}
    assert seal_of(first_alone, ROOT.certificate) is SealStatus.BROKEN


def test_of_two_seals_a_stranger_s_makes_nothing_valid() -> None:
    stranger = Sealer(
        signer=issued(41, "Test tax office", issued(40, "Test root")), maker=issued(40, "Test root")
    )
    added = sealed(parts(), Sealer(), stranger)
    assert seal_of(added, ROOT.certificate) is SealStatus.VALID
    more = sealed(parts() | {"Doc_0/x.xml": b"<x/>"}, Sealer(leaves_out=("Doc_0/x.xml",)), stranger)
    assert seal_of(more, ROOT.certificate) is SealStatus.INTACT
    assert seal_of(itinerary(None, stranger), ROOT.certificate) is SealStatus.INTACT


def _flip(whole: bytes) -> bytes:
    return whole[:-1] + bytes((whole[-1] ^ 1,))


@pytest.mark.parametrize(
    ("sealer", "words"),
    [
        (Sealer(tampering={"to_sign": _flip}), "its seal was not set on this file, or was altered"),
        (Sealer(tampering={"info": _flip}), "the picture or the owner of its seal was altered"),
        (
            Sealer(listed=(MAKER.certificate,)),
            "its seal was set with a certificate that the seal does not name",
        ),
    ],
)
def test_a_seal_that_is_not_what_it_should_be(sealer: Sealer, words: str) -> None:
    file = read(itinerary(None, sealer), ROOT.certificate)
    assert (file.seal, file.problem) == (SealStatus.BROKEN, FileStatus.ALTERED)
    assert [str(reason) for reason in file.reasons] == [words]


def test_a_seal_of_another_file() -> None:
    other = sealed(parts(Voucher().said(TotalAmount="1.00")))
    moved = sealed(parts()) | {VALUE: other[VALUE]}
    assert str(read(moved).reasons[0]) == "its seal was not set on this file, or was altered"
    file = read(moved | {SIGNATURE: other[SIGNATURE]})
    assert "is not what was sealed" in str(file.reasons[0])


def _without(name: str) -> Callable[[Parts], Parts]:
    return lambda made: {part: content for part, content in made.items() if part != name}


def _with(name: str, old: bytes, new: bytes) -> Callable[[Parts], Parts]:
    return lambda made: made | {name: made[name].replace(old, new)}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_without(VALUE), f"its seal can't be read: {SIGNATURE} is damaged"),
        (_without(SIGNATURE), "its part Sign_0/Signature.xml, which was sealed, is missing"),
        (lambda made: made | {VALUE: made[VALUE][:-1]}, f"its seal can't be read: {VALUE} is damaged"),
        (lambda made: made | {VALUE: b""}, f"its seal can't be read: {VALUE} is damaged"),
        (_with(SIGNATURES, b"<ofd:MaxSignId>", b"<ofd:Signature/>" * 20 + b"<ofd:MaxSignId>"), f"its seal can't be read: {SIGNATURES} is damaged"),
    ],
)  # fmt: skip
def test_a_seal_with_a_part_that_is_damaged(change: Callable[[Parts], Parts], words: str) -> None:
    file = read(change(sealed(parts())), ROOT.certificate)
    assert file.seal is SealStatus.BROKEN
    assert [str(reason) for reason in file.reasons] == [words]


@pytest.mark.parametrize(
    ("sealer", "kind", "name"),
    [
        (Sealer(version=1), "Seal", "SES 1"),
        (Sealer(algorithm="1.2.840.113549.1.1.11"), "Seal", "1.2.840.113549.1.1.11"),
        (Sealer(method="MD5"), "Seal", "MD5"),
        (Sealer(), "Sign", "Sign"),
        (Sealer(by_digest=True, listed=(MAKER.certificate,)), "Seal", "certDigestList"),
    ],
)
def test_a_seal_of_another_kind(sealer: Sealer, kind: str, name: str) -> None:
    file = read(sealed(parts(), sealer, kind=kind), ROOT.certificate)
    assert (file.seal, file.problem) == (SealStatus.UNSUPPORTED, None)
    assert file.data
    assert str(file.data.notes[0]) == f"its seal is of a kind that can't be checked here ({name})"


def test_an_unsupported_seal_takes_nothing_from_another() -> None:
    assert seal_of(sealed(parts(), Sealer(), Sealer(version=1)), ROOT.certificate) is SealStatus.VALID
    assert seal_of(sealed(parts(), Sealer(leaves_out=(PAGE,)), Sealer(version=1))) is SealStatus.PARTIAL


def test_a_list_of_digests_names_the_signer_too() -> None:
    assert seal_of(itinerary(None, Sealer(by_digest=True)), ROOT.certificate) is SealStatus.VALID


@pytest.mark.parametrize(
    "sealer",
    [
        Sealer(moment="20230101000000Z"),
        Sealer(moment="20350101000000Z"),
        Sealer(signer=issued(51, "Ended", ROOT, ends="2025")),
    ],
)
def test_a_seal_out_of_its_time_is_not_valid(sealer: Sealer) -> None:
    file = read(itinerary(None, sealer), ROOT.certificate)
    assert file.seal is SealStatus.INTACT
    assert file.data
    assert "was not valid on the day" in str(file.data.notes[0])


def test_an_openssl_without_sm3_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: bytes) -> bytes:
        raise sm2.NoSM3

    package = itinerary()
    monkeypatch.setattr(sm2, "sm3", none)
    file = read(package, ROOT.certificate)
    assert (file.seal, file.problem) == (SealStatus.UNSUPPORTED, None)
    assert file.data
    assert "has no SM3" in str(file.data.notes[0])


def test_roots_are_taken_out_of_files() -> None:
    pem = certificates.base64.encodebytes(ROOT.certificate)
    text = b"-----BEGIN CERTIFICATE-----\n" + pem + b"-----END CERTIFICATE-----\n"
    assert root_certificates(ROOT.certificate) == (ROOT.certificate,)
    assert root_certificates(b"Subject: x\n" + text * 2) == (ROOT.certificate,) * 2
    for other in (b"", b"hello", text.replace(b"MII", b"AAA"), ROOT.certificate + b"\0"):
        with pytest.raises(certificates.NotDer):
            root_certificates(other)


def openssl(folder: Path, *words: str | Path) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.slow
@pytest.mark.usefixtures("openssl")
def test_certificates_and_signatures_of_openssl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, certificates and all signatures are OpenSSL's; what is signed is put together here."""
    named = {"root": "/CN=OpenSSL root", "signer": "/CN=OpenSSL tax office"}
    made: dict[str, Any] = {}
    for who, subject in named.items():
        openssl(
            tmp_path, "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:SM2", "-out", f"{who}.key"
        )
        openssl(tmp_path, "req", "-new", "-key", f"{who}.key", "-subj", subject, "-sm3", "-sigopt", "distid:1234567812345678", "-out", f"{who}.csr")  # fmt: skip
        by = ["-signkey", "root.key"] if who == "root" else ["-CA", "root.pem", "-CAkey", "root.key"]
        distid = ("-sigopt", "distid:1234567812345678", "-vfyopt", "distid:1234567812345678")
        openssl(tmp_path, "x509", "-req", "-in", f"{who}.csr", *by, "-days", "3650", "-sm3", *distid, "-set_serial", "7", "-out", f"{who}.pem")  # fmt: skip
        made[who] = root_certificates((tmp_path / f"{who}.pem").read_bytes())[0]

    def sign(_key: int, message: bytes) -> bytes:
        (tmp_path / "message").write_bytes(message)
        openssl(tmp_path, "pkeyutl", "-sign", "-inkey", "signer.key", "-in", "message", "-rawin", "-digest", "sm3",
                "-pkeyopt", "distid:1234567812345678", "-out", "signature")  # fmt: skip
        return (tmp_path / "signature").read_bytes()

    signer = Issued(0, "", made["signer"])
    ends = ofd_files.generalized
    monkeypatch.setattr(ofd_files.sm2, "sign", sign)
    now = certificates.certificate(made["signer"]).begins
    package = itinerary(None, Sealer(signer=signer, maker=signer, moment=now.strftime("%Y%m%d%H%M%SZ")))
    assert ends
    assert seal_of(package, made["root"]) is SealStatus.VALID
    assert seal_of(package, ROOT.certificate) is SealStatus.INTACT

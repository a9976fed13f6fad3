"""The mails of an itinerary, and each fault of its file."""

import io
import zipfile
from collections.abc import Iterable
from datetime import date, datetime

from hypothesis import given
from hypothesis import strategies as st

from pipeline.sandbox.itinerary import FareParts, Itinerary
from pipeline.sandbox.itinerary_mail import MailOrder, mails
from pipeline.sandbox.preconditions import _ADDRESS
from tests.unit.sandbox.mailed import attached, fields, mail

NUMBER = "26948731111043132568"
DUE = 1_796_000_000.0
ITINERARY = Itinerary(
    NUMBER, "9991234567890", "ZHANG/WEI MR", "远山科技有限公司", "91110000600037341L", "domestic", date(2026, 10, 1),
    date(2026, 11, 20), FareParts.of(1050_00),
)  # fmt: skip


def written(*faults: str, address: str = "books@example.com") -> list[tuple[str, bytes]]:
    return list(mails(MailOrder(ITINERARY, address, DUE, frozenset(faults))))


def one(*faults: str) -> bytes:
    ((name, content),) = written(*faults)
    assert name == f"{NUMBER}.eml"
    return content


def parts(file: bytes) -> Iterable[str]:
    return zipfile.ZipFile(io.BytesIO(file)).namelist()


def test_subject_and_attachment_are_named_as_they_were_observed() -> None:
    content = one()
    read = mail(content)
    assert read["Subject"] == f"【电子行程单OFD版】- 行程单号：{NUMBER}"
    assert (read["To"], read["Message-ID"]) == ("books@example.com", f"<{NUMBER}@sandbox.invalid>")
    assert datetime.strptime(read["Date"], "%a, %d %b %Y %H:%M:%S %z").timestamp() == DUE
    body = read.get_body()
    assert body is not None
    assert "没有任何效力" in body.get_content()
    name, file = attached(content)
    assert name == f"电子行程单_{NUMBER}.ofd"
    assert fields(file)["TotalAmount"] == "1050.00"


@given(st.from_regex(_ADDRESS, fullmatch=True))
def test_whatever_address_the_carrier_takes_can_be_mailed_to(address: str) -> None:
    ((_, content),) = mails(MailOrder(ITINERARY, address, DUE, frozenset({"unsealed"})))
    assert attached(content)[0] == f"电子行程单_{NUMBER}.ofd"


def test_an_address_is_written_as_it_was_given() -> None:
    for address in ("a.b+c@example.com", "财务@例子.中国", "0@[", "a,b@c", f"{'a' * 300}@b"):
        ((_, content),) = written(address=address)
        assert f"To: {address}\r\n".encode() in content
        assert attached(content)[0] == f"电子行程单_{NUMBER}.ofd"


def test_never_and_twice() -> None:
    assert written("never") == []
    (first, content), (second, again) = written("twice")
    assert (first, second, content) == (f"{NUMBER}.eml", f"{NUMBER}.2.eml", again)


def test_another_buyer_or_amount_is_whole_and_sealed() -> None:
    wrong = fields(attached(one("wrong_buyer"))[1])
    assert wrong["NameOfPurchaser"] == "另一家贸易有限公司"
    assert wrong["UnifiedSocialCreditCodeOfPurchaser"] != "91110000600037341L"
    assert wrong["TotalAmount"] == "1050.00"
    wrong = fields(attached(one("wrong_amount"))[1])
    assert (wrong["TotalAmount"], wrong["NameOfPurchaser"]) == ("1060.00", "远山科技有限公司")
    assert "Doc_0/Signs/Signatures.xml" in parts(attached(one("wrong_amount"))[1])


def test_altered_and_unsealed() -> None:
    altered = attached(one("altered"))[1]
    assert fields(altered)["TotalAmount"] == "1060.00"
    assert "Doc_0/Signs/Signatures.xml" in parts(altered)
    unsealed = attached(one("unsealed"))[1]
    assert fields(unsealed)["TotalAmount"] == "1050.00"
    assert not [name for name in parts(unsealed) if "Sign" in name]


def test_a_link_in_place_of_the_file() -> None:
    read = mail(one("link_only"))
    assert list(read.iter_attachments()) == []
    assert f"https://sandbox.invalid/itinerary?number={NUMBER}" in read.get_content()


def test_the_file_in_a_zip() -> None:
    name, packed = attached(one("zip"))
    assert name == f"电子行程单_{NUMBER}.zip"
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        (inside,) = archive.namelist()
        assert inside == f"电子行程单_{NUMBER}.ofd"
        assert fields(archive.read(inside))["ElectronicInvoiceAirTransportReceiptNumber"] == NUMBER


def test_faults_befall_a_file_together() -> None:
    (_, content), _ = written("zip", "wrong_buyer", "unsealed", "twice")
    with zipfile.ZipFile(io.BytesIO(attached(content)[1])) as archive:
        file = archive.read(archive.namelist()[0])
    assert fields(file)["NameOfPurchaser"] == "另一家贸易有限公司"
    assert "Doc_0/Signs/Signatures.xml" not in parts(file)

"""What a mail holds, for tests: read by the standard library."""

import io
import xml.etree.ElementTree as ET
import zipfile
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path


def mail(content: bytes) -> EmailMessage:
    read = message_from_bytes(content, policy=policy.default)
    assert isinstance(read, EmailMessage)
    return read


def attached(content: bytes) -> tuple[str, bytes]:
    """The name and the bytes of a mail's only attachment."""
    (part,) = mail(content).iter_attachments()
    return part.get_filename() or "", part.get_content()


def fields(file: bytes) -> dict[str, str]:
    """The data of an itinerary file: each element of its XBRL that has a text, by its name."""
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        (name,) = (name for name in archive.namelist() if "atr_issuer_" in name)
        root = ET.fromstring(archive.read(name))
    return {element.tag.rpartition("}")[2]: element.text for element in root.iter() if element.text}


def all_fields(folder: Path) -> list[dict[str, str]]:
    """Those of every mail in a folder, by the mails' names."""
    return [fields(attached(path.read_bytes())[1]) for path in sorted(folder.glob("*.eml"))]

"""The seals of an OFD file (GB/T 33190, 18): each seal's list of digests compared with the parts, and what all of them cover.

What was seen in real files (itinerary-files.md): some valid seals leave OFD.xml out; Signatures.xml changes when a second seal is set, so
that the first one's digest of it is right no more; rail seals have no StampAnnot, and "sm3" in place of the algorithm's number.
"""

import base64
import binascii
from dataclasses import dataclass

from pipeline import sm2
from pipeline.itinerary_files.bounded_xml import Element
from pipeline.itinerary_files.electronic_seal import Broken, NotDer, Unsupported, checked_seal
from pipeline.itinerary_files.ofd_package import ROOT
from pipeline.itinerary_files.ofd_parts import Parts
from pipeline.itinerary_files.read_reasons import Found, Reason, found
from pipeline.model.itinerary_file import SealStatus

_SM3 = ("1.2.156.10197.1.401", "sm3")
#: A file has one or two.
_MOST_SEALS = 10
_SEAL = "Seal"


@dataclass(frozen=True)
class Sealing:
    """What the seals of a file come to; `reasons` where one is broken, `notes` otherwise."""

    status: SealStatus
    reasons: tuple[Found, ...] = ()
    notes: tuple[Found, ...] = ()


@dataclass(frozen=True)
class _Checked:
    """One seal: the parts that it covers, and whether its signer is trusted."""

    covers: frozenset[str]
    trusted: bool
    notes: tuple[Found, ...]


@dataclass(frozen=True)
class _Place:
    """A seal's Signature.xml, its kind, the list of seals it stands in, and whether it is the last there."""

    name: str
    kind: str
    listed_in: str
    is_last: bool


class _NoSeal(Exception):
    """Why one seal is broken."""

    def __init__(self, reason: Reason, /, **facts: str) -> None:
        super().__init__(reason, facts)
        self.found = found(reason, **facts)


def check_seals(parts: Parts, content: frozenset[str], roots: tuple[bytes, ...]) -> Sealing:
    """The seals of a file, in which some parts carry what it says."""
    listed_in = parts.package.find(parts.body.said("Signatures")) if parts.body.said("Signatures") else None
    if listed_in is None:
        return Sealing(SealStatus.NONE)
    own, checked, unsupported = {ROOT, listed_in}, list[_Checked](), list[Found]()
    try:
        for place in _places(parts, listed_in):
            signature = parts.xml(place.name)
            own |= {place.name, *_own_parts(parts, signature, place.name)}
            try:
                checked.append(_check(parts, signature, place, roots))
            except Unsupported as other:
                unsupported.append(found(Reason.SEAL_KIND, name=str(other)))
            except sm2.NoSM3:
                unsupported.append(found(Reason.NO_SM3))
    except _NoSeal as broken:
        return Sealing(SealStatus.BROKEN, (broken.found,))
    return _all_together(checked, unsupported, content - own)


def _places(parts: Parts, listed_in: str) -> list[_Place]:
    """The seals of a list. Raises _NoSeal."""
    entries = [*parts.xml(listed_in).all("Signature")]
    if len(entries) > _MOST_SEALS:
        raise _NoSeal(Reason.SEAL_FORM, name=listed_in)
    places = list[_Place]()
    for entry in entries:
        location = entry.attributes.get("BaseLoc", "")
        if not (name := parts.package.find(location, listed_in)):
            raise _NoSeal(Reason.SEALED_GONE, name=location)
        kind = entry.attributes.get("Type", _SEAL)
        places.append(_Place(name, kind, listed_in, is_last=len(places) == len(entries) - 1))
    return places


def _all_together(checked: list[_Checked], unsupported: list[Found], content: frozenset[str]) -> Sealing:
    notes = (*unsupported, *(note for one in checked for note in one.notes))
    if not checked:
        return Sealing(SealStatus.UNSUPPORTED if unsupported else SealStatus.NONE, notes=notes)
    trusted = frozenset().union(*(one.covers for one in checked if one.trusted))
    everybody = frozenset().union(*(one.covers for one in checked))
    if content <= trusted:
        return Sealing(SealStatus.VALID, notes=notes)
    if content <= everybody:
        return Sealing(SealStatus.INTACT, notes=notes)
    left_out = found(Reason.NOT_SEALED, name=min(content - everybody))
    return Sealing(SealStatus.PARTIAL, notes=(*notes, left_out))


def _own_parts(parts: Parts, signature: Element, name: str) -> set[str]:
    """The parts of a seal itself, which it can't cover: its signed value, and the picture that is kept beside it."""
    locations = [signature.said("SignedValue")]
    if seal := signature.first(_SEAL):
        locations.append(seal.said("BaseLoc"))
    return {part for location in locations if location and (part := parts.package.find(location, name))}


def _check(parts: Parts, signature: Element, place: _Place, roots: tuple[bytes, ...]) -> _Checked:
    """One seal. Raises _NoSeal, Unsupported, NoSM3."""
    if place.kind != _SEAL:
        raise Unsupported(place.kind)
    value = (
        parts.package.find(signature.said("SignedValue"), place.name)
        if signature.said("SignedValue")
        else None
    )
    if value is None:
        raise _NoSeal(Reason.SEAL_FORM, name=place.name)
    try:
        seal = checked_seal(parts.package.read(value), parts.package.read(place.name), roots)
    except Broken as broken:
        raise _NoSeal(broken.reason) from None
    except NotDer:
        raise _NoSeal(Reason.SEAL_FORM, name=value) from None
    notes = () if seal.dated else (found(Reason.SEAL_DATES),)
    return _Checked(_covered(parts, signature, place), seal.trusted and seal.dated, notes)


def _covered(parts: Parts, signature: Element, place: _Place) -> frozenset[str]:
    """The parts that a seal covers. Raises _NoSeal where one of them is not what was sealed, Unsupported for another digest."""
    references = signature.first("References")
    if references is None:
        raise _NoSeal(Reason.SEAL_FORM, name=place.name)
    method = references.attributes.get("CheckMethod", "MD5")
    if method.strip().casefold() not in _SM3:
        raise Unsupported(method)
    covers = set[str]()
    for reference in references.all("Reference"):
        location = reference.attributes.get("FileRef", "")
        part = parts.package.find(location, place.name)
        if part is None:
            raise _NoSeal(Reason.SEALED_GONE, name=location)
        if part == place.listed_in and not place.is_last:
            continue
        if parts.package.sm3(part) != _digest(reference.said("CheckValue"), place):
            raise _NoSeal(Reason.SEALED_PART, name=part)
        covers.add(part)
    return frozenset(covers)


def _digest(text: str, place: _Place) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise _NoSeal(Reason.SEAL_FORM, name=place.name) from None

"""What the parts of an OFD file are for: its document, pages with their templates, attachments and tags (GB/T 33190, 7 to 9, 16, 20)."""

from collections.abc import Iterator

from pipeline.itinerary_files.bounded_xml import Element, Entities, NotXml, Room, TooMuch, parsed
from pipeline.itinerary_files.ofd_package import ROOT, Package
from pipeline.itinerary_files.page_text import PageText, page_text
from pipeline.itinerary_files.read_reasons import Found, Reason, Refused, found, unreadable

#: An itinerary has one page; one of many segments perhaps a second.
_MOST_PAGES = 20
#: Attachments and tags that are looked into.
_MOST_DOCUMENTS = 20


class Parts:
    """The parts of one file, by what they are for. Raises Refused where it has no readable document.

    `looked_into` are the parts that what it says was taken from; a part that is not well-formed is left out of it, with a note.
    """

    def __init__(self, package: Package) -> None:
        self.package = package
        self.notes: list[Found] = []
        self.looked_into: set[str] = set()
        self._parsed: dict[str, Element] = {}
        self._room = Room()
        self._malformed: set[str] = set()
        self.root = self.xml(ROOT)
        body = self.root.first("DocBody")
        if body is None:
            raise unreadable(Reason.NOT_XML, name=ROOT)
        self.body = body
        location = body.said("DocRoot")
        self._document_name = package.find(location) if location else None
        if self._document_name is None:
            raise unreadable(Reason.NO_PART, name=location or "DocRoot")
        self.document = self._taken(self._document_name)

    def xml(self, name: str) -> Element:
        """A part's root element. Raises Refused where it is no XML, or goes beyond a bound."""
        if name not in self._parsed:
            try:
                root, odd = parsed(self.package.read(name), self._room)
            except NotXml:
                raise unreadable(Reason.NOT_XML, name=name) from None
            except Entities:
                raise unreadable(Reason.ENTITIES, name=name) from None
            except TooMuch:
                raise unreadable(Reason.NESTED, name=name) from None
            if odd:
                self.notes.append(found(Reason.ODD_NAMES, name=name))
            self._parsed[name] = root
        return self._parsed[name]

    def _taken(self, name: str) -> Element:
        self.looked_into.add(name)
        return self.xml(name)

    def _optional(self, name: str) -> Element | None:
        """A part that may be malformed, which is noted."""
        if name in self._malformed:
            return None
        try:
            return self._taken(name)
        except Refused as refused:
            if refused.found.reason is not Reason.NOT_XML:
                raise
        self._malformed.add(name)
        self.notes.append(found(Reason.MALFORMED, name=name))
        return None

    def _listed(self, entry: str, of_list: str, locations: str) -> Iterator[str]:
        """The parts that a list names, which the document names."""
        location = self.document.said(entry)
        list_name = self.package.find(location, self._document_name or ROOT) if location else None
        if list_name is None or (root := self._optional(list_name)) is None:
            return
        for element in root.all(of_list):
            if (said := element.said(locations)) and (name := self.package.find(said, list_name)):
                yield name

    def attachments(self) -> Iterator[Element]:
        """The attachments that are XML: those that the document lists, and what else lies in a folder Attachs."""
        names = [*self._listed("Attachments", "Attachment", "FileLoc")]
        names += (name for name in self.package.names if "/Attachs/" in f"/{name}")
        yield from self._documents(name for name in names if name.lower().endswith(".xml"))

    def tags(self) -> Iterator[Element]:
        """The documents of tags: those that are listed, and what else is called CustomTag.xml."""
        names = [*self._listed("CustomTags", "CustomTag", "FileLoc")]
        names += (name for name in self.package.names if name.endswith("/CustomTag.xml"))
        yield from self._documents(names)

    def _documents(self, names: "Iterator[str] | list[str]") -> Iterator[Element]:
        for name in [*dict.fromkeys(names)][:_MOST_DOCUMENTS]:
            if (root := self._optional(name)) is not None:
                yield root

    def pages(self) -> PageText:
        """The text of all pages with their templates. Raises Refused where there are too many."""
        beside = self._document_name or ROOT
        templates = {
            element.attributes.get("ID", ""): element.attributes.get("BaseLoc", "")
            for element in self.document.all("TemplatePage")
        }
        listed = self.document.first("Pages")
        entries = [*listed.all("Page")] if listed else []
        if len(entries) > _MOST_PAGES:
            raise unreadable(Reason.PAGES, count=len(entries))
        pages = list[list[Element]]()
        for entry in entries:
            roots = list[Element]()
            name = self.package.find(entry.attributes.get("BaseLoc", ""), beside)
            if name and (page := self._optional(name)) is not None:
                roots.append(page)
                for used in [*page.all("Template")][:_MOST_PAGES]:
                    location = templates.get(used.attributes.get("TemplateID", ""), "")
                    template = self.package.find(location, beside) if location else None
                    if template and (root := self._optional(template)) is not None:
                        roots.append(root)
            pages.append(roots)
        return page_text(pages)

    def content(self) -> frozenset[str]:
        """The parts that carry what the file says: those that were looked into, and all others that are XML."""
        return frozenset(self.looked_into) | {
            name for name in self.package.names if name.lower().endswith(".xml")
        }

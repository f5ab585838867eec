"""Contacts (.vcf): a section for each card."""

from collections.abc import Iterator

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.cards.content_lines import Component, Property, components, decoded_lines, shown_lines
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.text.decode import clean
from sourcebook.parsing.text.joined_blocks import JoinedBlocks
from sourcebook.parsing.text.picture_marks import count_pictures
from sourcebook.parsing.text.plain_text import paragraphs

_LABELS = {"NICKNAME": "Nickname", "TITLE": "Title", "ROLE": "Role"}
_LAST_LABELS = {
    "URL": "URL",
    "X-SOCIALPROFILE": "Profile",
    "BDAY": "Birthday",
    "ANNIVERSARY": "Anniversary",
    "RELATED": "Related",
    "X-ABRELATEDNAMES": "Related",
    "CATEGORIES": "Categories",
}
_REACHED = {"EMAIL": "E-mail", "TEL": "Phone", "IMPP": "Chat"}
_KINDS = frozenset({"CELL", "FAX", "HOME", "MAIN", "MOBILE", "PAGER", "WORK"})


def parse_contacts(content: bytes) -> ParsedDocument:
    """Parse contacts: name, organization, addresses, numbers and note of each; pictures and keys are left out.

    Raises:
        ParseError: it holds no contact.
    """
    decoded = decoded_lines(content)
    cards = [component for component in components(decoded.text) if component.kind == "VCARD"]
    if not cards:
        raise ParseError("it holds no contact, or is cut off before the first; export it again", FailureClass.CORRUPT)
    joined = JoinedBlocks()
    for card in cards:
        joined.add_heading(clean(_name(card)), 2)
        joined.add("  \n".join(map(clean, _lines(card))), "paragraph")
        if note := card.first("NOTE"):
            text = clean(note.text)
            joined.add_blocks(text, paragraphs(text))
    count_pictures(sum(each.name in {"PHOTO", "LOGO"} for card in cards for each in card.properties))
    markdown, blocks = joined.markdown(), tuple(joined.blocks)
    return ParsedDocument(
        markdown=markdown,
        blocks=blocks,
        title=None if len(cards) > 1 else blocks[0].title or None,
        language=detect_language(markdown, blocks),
        metadata={"encoding": decoded.encoding, "contacts": len(cards)},
    )


def _name(card: Component) -> str:
    """Return the name of a card: as it is written in full, or of its parts, or its organization."""
    full = card.first("FN")
    if full is not None and full.text:
        return full.text
    if (name := card.first("N")) and (parts := [part for part in name.parts(";") if part]):
        return " ".join([*parts[1:], parts[0]])
    organization = card.first("ORG")
    written = ", ".join(organization.parts(";")) if organization else ""
    return written.strip() or "Contact without a name"


def _lines(card: Component) -> Iterator[str]:
    organizations = [", ".join(found.parts(";")) for found in card.properties if found.name == "ORG"]
    if any(organizations):
        yield f"Organization: {'; '.join(filter(None, organizations))}"
    yield from shown_lines(card, _LABELS)
    for found in card.properties:
        if found.name in _REACHED and (value := " ".join(found.text.split())):
            yield f"{_REACHED[found.name]}{_kinds(found)}: {value.removeprefix('tel:').removeprefix('mailto:')}"
        elif found.name == "ADR" and (parts := [" ".join(part.split()) for part in found.parts(";")]):
            yield f"Address{_kinds(found)}: {', '.join(part for part in parts if part)}"
    yield from shown_lines(card, _LAST_LABELS)


def _kinds(found: Property) -> str:
    """Return the kinds of a number or an address, such as ` (work, fax)`; vCard 2.1 has them as bare parameters."""
    named = {*found.parameters.get("TYPE", "").upper().replace('"', "").split(","), *found.parameters}
    kinds = sorted(kind.lower() for kind in named & _KINDS)
    return f" ({', '.join(kinds)})" if kinds else ""

"""Calendars (.ics): a section for each event, task and journal entry."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, timedelta

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.model.left_out import with_left_out
from sourcebook.parsing.cards.content_lines import Component, Property, components, decoded_lines, shown_lines
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.text.decode import clean
from sourcebook.parsing.text.joined_blocks import JoinedBlocks
from sourcebook.parsing.text.plain_text import paragraphs
from sourcebook.parsing.text.titles import cut_title

_ENTRIES = frozenset({"VEVENT", "VTODO", "VJOURNAL"})
_LABELS = {
    "LOCATION": "Where",
    "RRULE": "Repeats",
    "STATUS": "Status",
    "CATEGORIES": "Categories",
    "URL": "URL",
    "CONTACT": "Contact",
    "RESOURCES": "Resources",
    "COMMENT": "Comment",
}
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?")
_MOST_NAMED = 50
"""Participants listed by name."""


def parse_calendar(content: bytes) -> ParsedDocument:
    """Parse a calendar: summary, times, place, repetition, people and description of each entry.

    Raises:
        ParseError: it is no calendar.
    """
    decoded = decoded_lines(content)
    found = components(decoded.text)
    if not any(component.kind == "VCALENDAR" or component.kind in _ENTRIES for component in found):
        raise ParseError("it is no calendar, or cut off before its first entry; export it again", FailureClass.CORRUPT)
    names = (component.first(name) for component in found for name in ("X-WR-CALNAME", "NAME"))
    title = next((clean(name.text) for name in names if name is not None), "")
    joined = JoinedBlocks()
    joined.add_heading(title, 1)
    entries = [component for component in found if component.kind in _ENTRIES]
    for entry in entries:
        summary = entry.first("SUMMARY")
        joined.add_heading(clean(summary.text) if summary else "Entry without a name", 2)
        joined.add("  \n".join(map(clean, _lines(entry))), "paragraph")
        if description := entry.first("DESCRIPTION"):
            text = clean(description.text)
            joined.add_blocks(text, paragraphs(text))
    attached = sum(each.name == "ATTACH" for entry in entries for each in entry.properties)
    markdown, blocks = joined.markdown(), tuple(joined.blocks)
    return ParsedDocument(
        markdown=markdown,
        blocks=blocks,
        title=cut_title(title) or None,
        language=detect_language(markdown, blocks),
        metadata=with_left_out({"encoding": decoded.encoding, "entries": len(entries)}, {"attachments": attached}),
    )


def _lines(entry: Component) -> Iterator[str]:
    if when := _when(entry):
        yield f"When: {when}"
    if due := entry.first("DUE"):
        yield f"Due: {_time(due)}"
    yield from shown_lines(entry, _LABELS)
    for name, label in (("EXDATE", "Except"), ("RDATE", "Also")):
        moments = [
            _time(replace(found, raw=part))
            for found in entry.properties
            if found.name == name
            for part in found.parts(",")
        ]
        if moments:
            yield f"{label}: {', '.join(moments)}"
    for name, label in (("ORGANIZER", "Organizer"), ("ATTENDEE", "Participants")):
        people = [_person(found) for found in entry.properties if found.name == name]
        if people:
            more = f" and {len(people) - _MOST_NAMED:,} more" if len(people) > _MOST_NAMED else ""
            yield f"{label}: {', '.join(people[:_MOST_NAMED])}{more}"


def _when(entry: Component) -> str:
    """Return the time of an entry; the end of one that takes whole days is its last day."""
    start, end = entry.first("DTSTART"), entry.first("DTEND")
    if start is None:
        return ""
    begins, ends = _time(start), _time(end, is_end=True) if end else ""
    day, _, clock = begins.partition(" ")
    if ends.startswith(f"{day} ") and clock:
        ends = ends.removeprefix(f"{day} ")
    return begins if not ends or ends == begins else f"{begins} – {ends}"


def _time(value: Property, *, is_end: bool = False) -> str:
    """Return a time in ISO 8601 with its time zone; the value itself where it is none."""
    text = value.text
    found = _TIME.fullmatch(text)
    if found is None:
        return " ".join(text.split())
    with suppress(ValueError, OverflowError):
        year, month, day = int(found[1]), int(found[2]), int(found[3])
        if found[4] is None:
            whole = date(year, month, day)
            return (whole - timedelta(days=1) if is_end else whole).isoformat()
        moment = datetime(year, month, day, int(found[4]), int(found[5]))  # noqa: DTZ001 - the zone is a name behind it
        zone = "UTC" if found[7] else value.parameters.get("TZID", "")
        return f"{moment:%Y-%m-%d %H:%M} {zone}".rstrip()
    return text


def _person(value: Property) -> str:
    address = value.text.partition(":")[2] if value.text.lower().startswith("mailto:") else value.text
    name = value.parameters.get("CN", "")
    return " ".join((f"{name} <{address}>" if name and name != address else address).split())

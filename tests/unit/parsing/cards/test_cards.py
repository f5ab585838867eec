"""Calendars and contacts are sections that a person can read."""

import pytest

from sourcebook.errors import ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover, texts
from tests.unit.parsing.drawn_files import CARDS, EVENTS


def read(text: str, name: str) -> ParsedDocument:
    content = text.encode()
    document = parse(content, name=name, media_type=detect_media_type(name, content[:4096]))
    assert_blocks_cover(document)
    return document


@pytest.mark.parametrize("text", [EVENTS, EVENTS.replace("\n", "\r\n")], ids=["LF", "CRLF"])
def test_events_are_sections(text: str) -> None:
    """Times, people and descriptions are kept; attached bytes, alarms and identifiers are no text."""
    document = read(text, "a.ics")
    assert texts(document) == [
        "# Lock duties",
        "## Grease the gates, both of them",
        (
            "When: 2024-05-01 14:00 Europe/Berlin – 15:30 Europe/Berlin  \nWhere: Lock 7  \nRepeats: FREQ=MONTHLY  \n"
            "Organizer: Byron, Ada <ada@example.org>  \nParticipants: Ben <ben@example.org>"
        ),
        "Bring the grease.",
        "Nobody opens the upper gates before the paddles are down.",
        "## Paint",
        "Due: 2024-06-01",
    ]
    assert document.title == "Lock duties"
    assert document.metadata["entries"] == 2


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("DTSTART;VALUE=DATE:20240501\nDTEND;VALUE=DATE:20240502", "When: 2024-05-01"),
        ("DTSTART;VALUE=DATE:20240501\nDTEND;VALUE=DATE:20240504", "When: 2024-05-01 – 2024-05-03"),
        ("DTSTART:20240501T220000Z\nDTEND:20240502T010000Z", "When: 2024-05-01 22:00 UTC – 2024-05-02 01:00 UTC"),
        ("DTSTART:20249901", "When: 20249901"),
        ("DTSTART:soon", "When: soon"),
        ("DTSTART;VALUE=DATE:00010101\nDTEND;VALUE=DATE:00010101", "When: 0001-01-01 – 00010101"),
    ],
)
def test_times_are_shown_as_they_are_meant(lines: str, expected: str) -> None:
    """The end of an event of whole days is exclusive in the file; a time that is none stays as it is written."""
    assert texts(read(f"BEGIN:VEVENT\nSUMMARY:x\n{lines}\nEND:VEVENT\n", "a.ics"))[1] == expected


@pytest.mark.parametrize("text", [CARDS, CARDS.replace("\n", "\r\n")], ids=["LF", "CRLF"])
def test_contacts_are_sections(text: str) -> None:
    """Cards of versions 2.1 and 3.0 keep names, numbers and notes; the bytes of pictures are no text."""
    document = read(text, "a.vcf")
    assert texts(document) == [
        "## Ada Byron",
        (
            "Organization: Lock Board, Gates  \nTitle: Keeper  \nE-mail (work): ada@example.org  \n"
            "Phone (cell, home): +49 30 1234  \nAddress (home): Quay 1, Berlin, 10115, Germany"
        ),
        "Speaks Dutch, and swims.",
        "## Jürgen Müller",
        "Phone (fax, work): 555",
    ]
    assert document.metadata["contacts"] == 2


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("FN:\\n\nN:;Ada;;;", "Ada"),
        ("FN: \nN:;;;;\nORG:Lock Board", "Lock Board"),
        ("FN:\\n\nORG:\\n", "Contact without a name"),
    ],
)
def test_a_contact_has_the_name_that_is_there(lines: str, expected: str) -> None:
    """Names that are only white space are none."""
    assert read(f"BEGIN:VCARD\n{lines}\nEND:VCARD\n", "a.vcf").blocks[0].title == expected


@pytest.mark.parametrize("name", ["a.ics", "a.vcf"])
def test_without_an_entry_it_fails_with_the_reason(name: str) -> None:
    """A reason in plain words, with a remedy."""
    with pytest.raises(ParseError, match="export it again"):
        read("only text\n", name)


@pytest.mark.parametrize(
    "text",
    ["BEGIN:VEVENT\n" * 20_000, "BEGIN:VEVENT\nSUMMARY" + ";A=" * 20_000 + ":x", "BEGIN:VEVENT\nX" + ';"' * 20_000],
    ids=["nested", "parameters", "quotes"],
)
def test_hostile_lines_take_linear_time(text: str) -> None:
    """Deep nesting and endless parameters give a document."""
    assert read(text, "a.ics").metadata["entries"]

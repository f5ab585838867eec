"""What changed between two texts, section by section."""

from sourcebook.admin.differences.compare import compare
from sourcebook.admin.differences.sections import ReadDocument
from sourcebook.admin.differences.words import compared_words
from sourcebook.contract.differences import SectionDifference, marked
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse

LEASE = """# Boat lease

The owner lets the sailing boat *Petrel* to the crew named below.

## 1. Term

The lease begins on 1 May 2023 and runs for 24 months.

## 2. Rent

The crew pays €350.00 a month, due on the third working day.

| Item | Price |
|---|---|
| Mooring | 120 EUR |
| Winter storage | 480 EUR |

## 3. Care of the boat

The crew rinses the deck with fresh water after every trip and reports damage within two days.

## 4. Notice

Either side may end the lease with 30 days' notice in writing.
"""
NEXT = """# Boat lease

The owner lets the sailing boat *Petrel* to the crew named below.

## 1. Care of the boat

The crew rinses the deck with fresh water after every trip and reports damage within two days.

## 2. Term

The lease begins on 1 May 2024 and runs for 36 months.

## 3. Insurance

The crew insures the boat against loss for at least 40,000 euros.

## 4. Rent

The crew pays €375.50 a month, due on the third working day.

| Item | Price |
|---|---|
| Mooring | 120 EUR |
| Winter storage | 510 EUR |

## 5. Notice of termination

Either side may end the lease with 60 days' notice in writing.
"""


def read(text: str, name: str) -> ReadDocument:
    content = text.encode()
    parsed = parse(content, name=name, media_type=detect_media_type(name, content))
    markdown = parsed.markdown
    return ReadDocument(markdown, parsed.blocks, f"file:///{name}", lambda a, b: (markdown[a:b], a, b), str)


def differing(one: str, other: str, name: str = "lease.md") -> list[SectionDifference]:
    return compare(read(one, name).sections(), read(other, name).sections())


def told(found: list[SectionDifference]) -> list[tuple[str, str, bool]]:
    return [(each.title.rpartition(" › ")[2], each.kind, each.is_moved) for each in found]


def test_sections_are_told_apart_as_moved_changed_added_and_renamed() -> None:
    """A section at another place and one with another number are neither gone nor new."""
    found = differing(LEASE, NEXT)
    assert told(found) == [
        ("1. Care of the boat", "moved", True),
        ("2. Term", "changed", False),
        ("3. Insurance", "added", False),
        ("4. Rent", "changed", False),
        ("5. Notice of termination", "changed", False),
    ]
    assert found[0].changes == ()
    assert found[0].before is not None
    assert found[0].before.address == "file:///lease.md#3-care-of-the-boat"
    assert found[0].after is not None
    assert found[0].after.address == "file:///lease.md#1-care-of-the-boat"
    assert [marked(change) for change in found[3].changes] == [
        "The crew pays [-€350.00-] {+€375.50+} a month, due on the third working day.",
        "| Winter storage | [-480-] {+510+} EUR |",
    ]
    assert [
        (number.before, number.after) for each in found for change in each.changes for number in change.numbers
    ] == [
        ("2023", "2024"),
        ("24", "36"),
        ("", "40,000"),
        ("€350.00", "€375.50"),
        ("480", "510"),
        ("30", "60"),
    ]


def test_the_way_back_removes_what_the_way_there_adds() -> None:
    found = {title: kind for title, kind, _ in told(differing(NEXT, LEASE))}
    assert found["3. Insurance"] == "removed"
    assert found["4. Notice"] == "changed"
    assert differing(LEASE, LEASE) == []


def test_a_paragraph_that_moved_to_another_section_is_named_once() -> None:
    text = "The crew rinses the deck with fresh water after every trip and reports damage within two days.\n"
    other = LEASE.replace(text, "Nothing is said here.\n").replace("in writing.\n", f"in writing.\n\n{text}")
    changes = [change for each in differing(LEASE, other) for change in each.changes]
    (moved,) = [change for change in changes if change.kind == "moved"]
    assert moved.before is not None
    assert moved.after is not None
    assert (moved.before.heading_path[-1], moved.after.heading_path[-1]) == ("3. Care of the boat", "4. Notice")
    assert not any("rinses" in piece.text for change in changes if change is not moved for piece in change.pieces)


def test_lines_of_a_text_file_are_cited() -> None:
    """A wrapped paragraph that is wrapped elsewhere is the same."""
    one = "Tide table\n\nHigh water is at\nnoon on Monday.\n\nLow water is at 18:10 on Tuesday.\n"
    other = one.replace("at\nnoon", "at noon").replace("18:10", "18:25")
    (section,) = differing(one, other, "tides.txt")
    (change,) = section.changes
    assert change.before is not None
    assert change.before.words == "line 6"
    assert [(number.before, number.after) for number in change.numbers] == [("18:10", "18:25")]


def test_functions_are_the_sections_of_code() -> None:
    one = "def high():\n    return 4\n\n\ndef low():\n    return 1\n"
    other = "def low():\n    return 2\n\n\ndef high():\n    return 4\n"
    found = {title: kind for title, kind, _ in told(differing(one, other, "tides.py"))}
    assert found["low"] == "changed"
    assert found.get("high", "moved") == "moved"


def test_rows_become_the_rows_that_they_are_most_like() -> None:
    rows = [f"| berth {number} | {number * 10} EUR | free |" for number in range(1, 9)]
    table = "\n".join(["| Berth | Price | State |", "|---|---|---|", *rows])
    changed = table.replace("| berth 4 | 40 EUR", "| berth 4 | 45 EUR").replace(rows[1] + "\n", "")
    found = [marked(change) for each in differing(table, changed) for change in each.changes]
    assert sorted(found) == sorted(["[-| berth 2 | 20 EUR | free |-]", "| berth 4 | [-40-] {+45+} EUR | free |"])


def test_words_that_no_space_parts_are_compared_too() -> None:
    pieces, numbers = compared_words("賃料は月350ユーロです。", "賃料は月375ユーロです。")
    assert "".join(piece.text for piece in pieces if piece.kind != "added") == "賃料は月350ユーロです。"
    assert [(number.before, number.after) for number in numbers] == [("350", "375")]

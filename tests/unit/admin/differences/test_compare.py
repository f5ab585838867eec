"""What changed between two texts, section by section."""

from sourcebook.admin.differences.compare import compare
from sourcebook.admin.differences.sections import ReadDocument
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


def differing(one: str, other: str, name: str = "lease.md") -> dict[str, SectionDifference]:
    found = compare(read(one, name).sections(), read(other, name).sections())
    return {
        (each.after or each.before).heading_path[-1:][0] if (each.after or each.before).heading_path else "": each
        for each in found
    }  # type: ignore[union-attr]


def test_x() -> None:
    found = differing(LEASE, NEXT)
    for name, each in found.items():
        print(name, each.kind, each.is_moved, each.before and each.before.address, each.after and each.after.address)
        for change in each.changes:
            print("    ", change.kind, marked(change), change.numbers)
    assert 0

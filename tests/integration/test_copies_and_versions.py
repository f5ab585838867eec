"""Copies fold into one result, versions are named and compared, and frames of a trace find their files."""

import subprocess

import pytest

from sourcebook.contract.search_results import SearchResults
from sourcebook.errors import UnknownDocumentError
from tests.integration.stages import Stages

LEASE = """# Boat lease

The owner lets the sailing boat Petrel to the crew named below.

## Rent

The crew pays 350 euros a month, due on the third working day of the month, into the owner's account.

## Notice

Either side may end the lease with 30 days' notice, given in writing to the address of the other side.
"""
POLICY = """# Travel policy

## Hotels

Employees book a hotel of at most three stars, and hand in the receipt within ten days of the journey.

## Trains

Second class is booked by the office at least one week before the journey; seats are reserved.
"""
CODE = "".join(
    f"def part_{n}(level):\n    return level + {n}  # gauge of pier number {n} in the harbour\n\n\n" for n in range(60)
)
FILES = {
    "leases/lease_v1.md": LEASE,
    "leases/lease_v2.md": LEASE.replace("350", "375").replace("30 days", "60 days"),
    "policies/travel.md": POLICY,
    "policies/Copy of travel.md": POLICY,
    "intern/travel.md": POLICY,
    "minutes/minutes-2024-03.md": "# Minutes\n\nThe board met in March and bought a tide gauge for the pier.",
    "minutes/minutes-2024-04.md": "# Minutes\n\nIn April the crew painted the lighthouse.",
    "tides/gauge.py": CODE,
    "tides/locked.md": "# Locked periods\n\nPeriodLocked means that the audit has closed the month of the reading.",
}
TRACE = """Traceback (most recent call last):
  File "/srv/app/tides/gauge.py", line 122, in part_30
    raise PeriodLocked(month)
tides.PeriodLocked: the month is closed
"""
HOTEL = "How many stars may a hotel have?"


@pytest.fixture
def library(stages: Stages) -> Stages:
    for name, text in FILES.items():
        stages.write(name, text)
    for arguments in (
        ("init", "-q", "."),
        ("-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "One"),
        ("remote", "add", "origin", "https://joe:hunter2@github.com/acme/sea.git"),
        ("checkout", "-q", "--detach"),
    ):
        subprocess.run(["git", *arguments], cwd=stages.root, check=True)
    stages.configure()
    stages.run()
    return stages


def name_of(uri: str) -> str:
    return "/".join(uri.split("/")[-2:]).replace("%20", " ")


def names(results: SearchResults) -> list[str]:
    return [name_of(hit.uri) for hit in results]


def test_copies_fold_and_versions_are_compared(library: Stages) -> None:
    """One knowledge base for all of it: it takes a minute to make."""
    search = library.knowledge.search
    copies = {"intern/travel.md", "policies/travel.md", "policies/Copy of travel.md"}

    found = search(HOTEL)
    assert {name_of(found[0].uri), *(name_of(each.uri) for each in found[0].also_in)} == copies
    assert found[0].copies == 2
    assert found[0].versions == ()  # equal texts are copies
    assert not copies & set(names(found)[1:])
    assert set(names(search(HOTEL, limit=3, duplicates="show"))) == copies
    assert search(HOTEL, duplicates="show").total_candidates > found.total_candidates

    pages = [hit for offset in range(0, 40, 2) for hit in search(HOTEL, limit=2, offset=offset, min_relevance=0)]
    whole = search(HOTEL, limit=40, min_relevance=0)
    assert [(hit.document_id, hit.ordinal) for hit in pages] == [(hit.document_id, hit.ordinal) for hit in whole]
    assert len(whole) == whole.total_candidates

    grouped = search(HOTEL, group_by="document", limit=20, min_relevance=0)
    assert len(copies & set(names(grouped))) == 1
    inside = search(HOTEL, filters={"paths": "policies/"})
    assert {name_of(each.uri) for each in inside[0].also_in} | {names(inside)[0]} == copies - {"intern/travel.md"}
    assert search(HOTEL, filters={"paths": "intern/"})[0].also_in == ()

    lease = search("How many days' notice ends the lease?")
    assert {name_of(lease[0].uri), *(name_of(each.uri) for each in lease[0].versions)} == {
        "leases/lease_v1.md",
        "leases/lease_v2.md",
    }
    assert search("notice of the lease", filters={"paths": "lease_v1.md"})[0].versions == ()
    assert search("board minutes")[0].versions == ()  # minutes of two months have nothing in common

    changed = search("What changed between v1 and v2 of the lease?")
    assert set(names(changed)[:2]) == {"leases/lease_v1.md", "leases/lease_v2.md"}
    assert any("two versions" in note for note in changed.notes)

    diff = library.knowledge.diff(library.uri("leases/lease_v1.md"), library.uri("leases/lease_v2.md"))
    assert [(section.title, section.kind) for section in diff.sections] == [
        ("Boat lease › Rent", "changed"),
        ("Boat lease › Notice", "changed"),
    ]
    assert [(number.before, number.after) for number in diff.numbers] == [("350", "375"), ("30", "60")]
    assert diff.unchanged == 1
    assert diff.sections[1].after is not None
    assert diff.sections[1].after.address.endswith("#notice")
    assert "[-30-] {+60+}" in str(diff)
    with pytest.raises(UnknownDocumentError):
        library.knowledge.diff("lease_v1.md", 0)

    related = library.knowledge.related(library.uri("leases/lease_v2.md"))
    assert [(each.kind, name_of(each.uri or ""), each.written) for each in related] == [
        ("version", "leases/lease_v1.md", "v1")
    ]
    similar = library.knowledge.similar(library.uri("leases/lease_v1.md"), limit=1)
    assert [name_of(each.uri) for each in similar[0].versions] == ["leases/lease_v1.md"]

    traced = search(TRACE)
    assert names(traced)[:2] == ["tides/gauge.py", "tides/locked.md"]
    assert "part_30" in traced[0].text
    assert traced[0].link is not None
    assert traced[0].link.startswith("https://github.com/acme/sea/blob/")
    assert traced[0].link.endswith("/tides/gauge.py")
    assert "hunter2" not in str(traced.as_dict())

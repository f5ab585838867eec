"""Copies fold into one result, versions are named and compared, in one knowledge base of contracts and policies."""

import pytest

from sourcebook.contract.search_results import SearchResults
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
FILES = {
    "leases/lease_v1.md": LEASE,
    "leases/lease_v2.md": LEASE.replace("350", "375").replace("30 days", "60 days"),
    "policies/travel.md": POLICY,
    "policies/Copy of travel.md": POLICY,
    "intern/travel.md": POLICY,
    "minutes/minutes-2024-03.md": "# Minutes\n\nThe board met in March and bought a tide gauge for the pier in Lerwick.",
    "minutes/minutes-2024-04.md": "# Minutes\n\nIn April the crew painted the lighthouse; nobody spoke of money at all.",
}


@pytest.fixture
def library(stages: Stages) -> Stages:
    for name, text in FILES.items():
        stages.write(name, text)
    stages.configure()
    stages.run()
    return stages


def names(results: SearchResults) -> list[str]:
    return [hit.uri.rpartition("handbook/")[2].rpartition("docs/")[2].split("/", 3)[-1] for hit in results]


def test_x(library: Stages) -> None:
    knowledge = library.knowledge
    for query, options in [
        ("How many stars may a hotel have?", {}),
        ("How many stars may a hotel have?", {"duplicates": "show"}),
        ("How many stars may a hotel have?", {"group_by": "document"}),
        ("How many stars may a hotel have?", {"filters": {"paths": "policies/"}}),
        ("How many days' notice ends the lease?", {}),
        ("What changed between v1 and v2 of the lease?", {}),
        ("board minutes", {}),
    ]:
        found = knowledge.search(query, **options)
        print(query, options, found.total_candidates, found.notes, found.nothing_relevant)
        for hit in found:
            print("   ", hit.uri.split("/", 6)[-1], hit.heading_path, round(hit.relevance, 2), [c.uri.split("/", 6)[-1] for c in hit.also_in], [(v.uri.split("/", 6)[-1], v.label) for v in hit.versions])
    print(knowledge.diff(library.uri("leases/lease_v1.md"), library.uri("leases/lease_v2.md")))
    print(knowledge.similar(library.uri("leases/lease_v1.md"))[0].versions)
    assert 0

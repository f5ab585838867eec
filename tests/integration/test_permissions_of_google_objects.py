"""Who may see what, as the ACLs of objects in Google Cloud Storage say it."""

import json
from collections.abc import Iterator

import pytest

pytest.importorskip("gcsfs")
from tests.google_store import GoogleStore, google_store
from tests.integration.stages import Stages

GRANTEES = {"allUsers": ["everyone"], "domain-example.org": ["group:staff"], "eve@example.org": ["user:Eve"]}


@pytest.fixture
def store(stages: Stages) -> Iterator[GoogleStore]:
    """Seven objects, four pages of a list: of all, of a domain, of addresses, and of the project's owners alone."""
    with google_store() as store:
        store.put("open.md", "allUsers", "user-anna@example.org")
        store.put("any.md", "allAuthenticatedUsers")
        store.put("staff.md", "domain-example.org")
        store.put("hr/pay.md", "user-anna@example.org", "group-hr@example.org")
        store.put("eve.md", "user-eve@example.org")
        store.put("own.md", "project-owners-123")
        store.put("gone.md", "allUsers")
        source = {"root": "gs://library/docs", "allowed": "acl", "grantees": GRANTEES}
        stages.configure(json.dumps({"collections": {stages.collection: {"files": [source]}}}))
        yield store


def seen(stages: Stages, *principals: str) -> set[str | None]:
    return {item.title for item in stages.knowledge.seen_by(principals).documents()}


def reasons(stages: Stages) -> list[str]:
    """Ask for all ACLs again, and return what went wrong."""
    stages.rows("UPDATE source SET next_fetch_at = now() RETURNING 1")
    return [each.reason for each in stages.raw_files().failures]


def test_the_acl_of_an_object_says_who_sees_it(store: GoogleStore, stages: Stages) -> None:
    """A service that asks to wait, or fails once, is asked again; what it does not say shows an object to nobody."""
    store.faults = {"o/docs/open.md/acl": [429, 500], "o": [503], "o/docs/gone.md/acl": [403] * 9}
    report = stages.run()["raw_files"]
    assert ["1 of 7 objects" in each.reason for each in report.failures] == [True]
    assert seen(stages) == {"open.md"}
    assert seen(stages, "group:staff") == {"open.md", "staff.md"}
    assert seen(stages, "user:anna@example.org") == seen(stages, "group:hr@example.org") == {"open.md", "hr/pay.md"}
    assert seen(stages, "user:eve@example.org") == {"open.md"}
    assert seen(stages, "user:Eve") == {"open.md", "eve.md"}
    assert seen(stages, "group:gs:project-owners-123", "group:gs:allAuthenticatedUsers") == {
        "any.md", "open.md", "own.md",
    }  # fmt: skip
    store.faults = {}
    store.put("hr/pay.md", "allUsers")
    del store.objects["docs/gone.md"]
    assert reasons(stages) == []
    assert seen(stages) == {"open.md", "hr/pay.md"}


def test_a_bucket_that_says_otherwise_shows_less(store: GoogleStore, stages: Stages) -> None:
    """Grants to all do not count where public access is prevented or nobody says it; without ACLs nobody sees any."""
    store.access = {"publicAccessPrevention": "enforced"}
    stages.run()
    assert seen(stages) == set()
    assert seen(stages, "user:anna@example.org") == {"open.md", "hr/pay.md"}
    store.access, store.faults = {}, {"": [403] * 99}
    (reason,) = reasons(stages)
    assert "3 of 7 objects" in reason
    assert seen(stages, "user:anna@example.org") == {"hr/pay.md"}
    store.access, store.faults = {"uniformBucketLevelAccess": {"enabled": True}}, {}
    (reason,) = reasons(stages)
    assert reason.startswith(
        "the bucket of gs://library/docs has no ACLs (uniform bucket-level access), so that nobody"
    )
    assert seen(stages, "user:anna@example.org", "group:hr@example.org") == set()

"""Who may see what, as the ACLs of the objects of a bucket say it, over a real server."""

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest

pytest.importorskip("s3fs")
pytest.importorskip("moto.server")
import fsspec

from sourcebook.errors import ConfigurationError
from tests.integration.object_store import object_store
from tests.integration.stages import Stages
from tests.permissions.counts import wrong_counts

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

OWNER: Final = "75aa57f09aa0c8caeab4f8c24e99d10f8e7faeebf76c078efc7c6caea54ba06a"
"""The canonical user to whom a canned ACL of the server gives everything."""
HR: Final = "79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be"
GRANTEES: Final = {
    "http://acs.amazonaws.com/groups/global/AllUsers": ["everyone"],
    "AuthenticatedUsers": ["group:staff"],
    HR: ["group:hr", "user:anna@example.org"],
}


class Doorman:
    """Notes requests, and answers those for the ACLs of some objects with a fault."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.faults: dict[str, tuple[str, bytes]] = {}
        """Status and body by the path of an object."""

    def before(self, application: "WSGIApplication") -> "WSGIApplication":
        def answer(environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
            path, query = environ["PATH_INFO"], environ.get("QUERY_STRING", "")
            self.asked.append(f"{environ['REQUEST_METHOD']} {path}?{query.split('=')[0]}")
            if query.startswith(("acl", "publicAccessBlock")) and path in self.faults:
                status, body = self.faults[path]
                start(status, [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))])
                return [body]
            return application(environ, start)

        return answer


DOORMAN: Final = Doorman()


@pytest.fixture(scope="module")
def objects() -> Iterator[fsspec.AbstractFileSystem]:
    with object_store(DOORMAN.before) as system:
        yield system


@pytest.fixture
def bucket(objects: fsspec.AbstractFileSystem, stages: Stages) -> Iterator[fsspec.AbstractFileSystem]:
    """The bucket with an open object, one for the staff, one for HR and one of the owner alone."""
    DOORMAN.faults = {}
    put(objects, "open.md", ACL="public-read")
    put(objects, "staff.md", ACL="authenticated-read")
    put(objects, "hr/pay.md", GrantRead=f'id="{HR}"', GrantReadACP='id="someone"')
    put(objects, "own.md", ACL="private")
    configure(stages)
    yield objects
    DOORMAN.faults = {}
    objects.invalidate_cache()
    objects.rm(objects.find("library"))
    for call in ("delete_bucket_ownership_controls", "delete_public_access_block"):
        objects.call_s3(call, Bucket="library")


def put(bucket: fsspec.AbstractFileSystem, name: str, text: str = "The barnacle.", **acl: str) -> None:
    body = f"# {name}\n\n{text}".encode()
    bucket.call_s3("put_object", Bucket="library", Key=f"docs/{name}", Body=body, **acl)


def permit(bucket: fsspec.AbstractFileSystem, name: str, **acl: str) -> None:
    bucket.call_s3("put_object_acl", Bucket="library", Key=f"docs/{name}", **acl)


def configure(stages: Stages, **settings: Any) -> None:
    source = {"root": "s3://library/docs", "allowed": "acl", "grantees": GRANTEES, **settings}
    stages.configure(json.dumps({"collections": {stages.collection: {"files": [source]}}}))


def seen(stages: Stages, *principals: str) -> set[str | None]:
    return {item.title for item in stages.knowledge.seen_by(principals).documents()}


def refresh(stages: Stages) -> None:
    """Let the time be over for which ACLs are not asked for again."""
    stages.rows("UPDATE source SET next_fetch_at = now() RETURNING 1")


def asked_by_look(stages: Stages) -> list[str]:
    """Look at the bucket, and return what was asked for objects, sorted."""
    DOORMAN.asked.clear()
    stages.raw_files()
    place = "GET /library/docs/"
    return sorted(each.replace(place, "GET ") for each in DOORMAN.asked if each.startswith(place))


def failures(stages: Stages) -> list[str]:
    refresh(stages)
    return [each.reason for each in stages.raw_files().failures]


def test_acls_are_in_force_at_the_next_look(bucket: fsspec.AbstractFileSystem, stages: Stages) -> None:
    """No object is read and no passage embedded for them: a look asks once for the ACL of each."""
    stages.run()
    assert seen(stages) == {"open.md"}
    assert seen(stages, "group:staff") == {"open.md", "staff.md"}
    assert seen(stages, "user:anna@example.org") == seen(stages, "group:hr") == {"open.md", "hr/pay.md"}
    assert seen(stages, f"user:s3:{OWNER}") == {"open.md", "staff.md", "own.md"}
    assert seen(stages, "user:s3:someone") == {"open.md"}
    (found,) = stages.knowledge.permissions("s3://library/docs/hr/pay.md")
    assert (found.allowed, [each.kind for each in found.reasons]) == (("group:hr", "user:anna@example.org"), ["acl"])

    permit(bucket, "open.md", GrantFullControl=f'id="{HR}"')
    permit(bucket, "own.md", ACL="public-read-write")
    assert asked_by_look(stages) == []
    assert seen(stages) == {"open.md"}
    refresh(stages)
    assert asked_by_look(stages) == [f"GET {name}?acl" for name in ("hr/pay.md", "open.md", "own.md", "staff.md")]
    assert seen(stages) == {"own.md"}
    assert seen(stages, "group:hr") == {"open.md", "hr/pay.md", "own.md"}
    permit(bucket, "own.md", ACL="private")
    put(bucket, "staff.md", "The walrus.", ACL="private")  # its folder differs, and is asked for as a whole
    assert asked_by_look(stages) == ["GET open.md?acl", "GET own.md?acl", "GET staff.md?", "GET staff.md?acl"]
    assert seen(stages, "group:staff") == set()
    put(bucket, "staff.md", ACL="private")
    stages.run()
    permit(bucket, "staff.md", ACL="public-read")
    refresh(stages)
    assert stages.run()["embeddings"].extra["computed"] == 0
    with stages.connection() as connection:
        assert not list(wrong_counts(connection))


def test_other_grantees_open_nothing_before_a_look(bucket: fsspec.AbstractFileSystem, stages: Stages) -> None:
    """And a source that says it otherwise in between is asked again, though no ACL has changed."""
    stages.run()
    configure(stages, grantees={HR: ["group:board"]}, denied=["user:eve"])
    assert seen(stages, "group:hr", "group:board", "group:staff") == set()
    stages.raw_files()
    assert seen(stages, "group:hr", "group:staff") == set()
    assert seen(stages, "group:board") == {"hr/pay.md"}
    assert seen(stages, "group:board", "user:eve") == set()
    configure(stages, allowed=["everyone"], grantees={})
    configure(stages)
    assert seen(stages) == set()
    stages.raw_files()
    assert seen(stages) == {"open.md"}


def test_grants_to_all_count_where_the_bucket_lets_them(bucket: fsspec.AbstractFileSystem, stages: Stages) -> None:
    """A bucket that ignores them shows such an object to nobody by them; one that does not say it, neither."""
    block = {"IgnorePublicAcls": True}
    bucket.call_s3("put_public_access_block", Bucket="library", PublicAccessBlockConfiguration=block)
    stages.run()
    assert seen(stages, "group:staff") == set()
    assert seen(stages, "group:hr") == {"hr/pay.md"}
    assert failures(stages) == []
    bucket.call_s3("delete_public_access_block", Bucket="library")
    DOORMAN.faults = {"/library": ("403 Forbidden", fault("AccessDenied"))}
    (reason,) = failures(stages)
    assert "2 of 4 objects" in reason
    assert "refuses the credentials" in reason
    assert seen(stages, "group:staff") == set()
    assert seen(stages, "group:hr") == {"hr/pay.md"}


def fault(code: str) -> bytes:
    return f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>No</Message></Error>".encode()


def test_an_acl_that_cannot_be_read_shows_its_object_to_nobody(
    bucket: fsspec.AbstractFileSystem, stages: Stages
) -> None:
    """It is said, and the others are as they are; once it can be read, it counts again."""
    put(bucket, "more.md", ACL="public-read")
    stages.run()
    assert seen(stages) == {"open.md", "more.md"}
    for status, body in (
        ("403 Forbidden", fault("AccessDenied")),
        ("500 Internal Server Error", fault("InternalError")),
        ("200 OK", b"<?xml version='1.0'?><AccessControlPolicy><AccessControlList><Grant>"),
        ("200 OK", b""),
    ):
        DOORMAN.faults = {"/library/docs/open.md": (status, body)}
        (reason,) = failures(stages)
        assert "1 of 5 objects" in reason
        assert "library/docs/open.md" in reason
        assert seen(stages) == {"more.md"}
        (found,) = stages.knowledge.permissions("s3://library/docs/open.md")
        assert (found.allowed, [each.kind for each in found.reasons]) == ((), ["unread"])
    DOORMAN.faults = {}
    assert failures(stages) == []
    assert seen(stages) == {"open.md", "more.md"}


def test_a_bucket_without_acls_shows_nothing(bucket: fsspec.AbstractFileSystem, stages: Stages) -> None:
    """As every new one is; what is gone is gone all the same."""
    stages.run()
    assert seen(stages) == {"open.md"}
    controls = {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}
    bucket.call_s3("put_bucket_ownership_controls", Bucket="library", OwnershipControls=controls)
    bucket.rm("library/docs/own.md")
    refresh(stages)
    report = stages.run()
    (failure,) = report["raw_files"].failures
    assert failure.reason.startswith(
        "the bucket of s3://library/docs has no ACLs (BucketOwnerEnforced), so that nobody"
    )
    assert report["raw_files"].removed == 1
    assert seen(stages, "group:hr", f"user:s3:{OWNER}") == set()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"root": "abfs://library/docs"}, "acl is for roots such as s3://"),
        ({"root": "."}, "acl is for roots such as s3://"),
        ({"documents_decide": True}, "without documents_decide"),
        ({"allowed": ["everyone"]}, "grantees are for allowed: acl"),
        ({"grantees": {HR: ["board"]}}, "is no principal"),
    ],
)
def test_settings_that_cannot_be_are_refused(stages: Stages, settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        configure(stages, **settings)

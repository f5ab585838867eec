"""Google Cloud Storage on loopback, as its JSON API is documented: lists come in pages, and requests may fail first."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import unquote

import fsspec
from aiohttp import web

from tests.web_server import WebServer

BUCKET = "library"
_PAGE = 2
"""Objects of one page of a list."""


class GoogleStore:
    """A bucket with objects, each with its ACL."""

    def __init__(self, server: WebServer) -> None:
        self.objects: dict[str, tuple[bytes, list[Mapping[str, str]]]] = {}
        self.access: dict[str, object] = {}
        """Settings of the bucket, `iamConfiguration`."""
        self.faults: dict[str, list[int]] = {}
        """Statuses that requests for a path get first."""
        self.asked: list[str] = []
        server.route("/*", self._answer)

    def put(self, name: str, *acl: str) -> None:
        """Keep an object that entities such as `user-anna@example.org` read, whose addresses the store tells."""
        body = f"# {name}\n\nThe barnacle.".encode()
        self.objects[f"docs/{name}"] = (body, [_grant(each) for each in acl])

    def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        path = unquote(request.rel_url.raw_path).removeprefix("/download").removeprefix(f"/storage/v1/b/{BUCKET}")
        path = path.strip("/")
        self.asked.append(path)
        if left := self.faults.get(path):
            status = left.pop(0)
            return _json({"error": {"code": status, "message": "no", "errors": [{"reason": "other"}]}}, status)
        if not path:
            return _json({"name": BUCKET, "iamConfiguration": self.access})
        if path == "o":
            return self._list(request.query)
        name, _, is_acl = path.removeprefix("o/").rpartition("/acl") if path.endswith("/acl") else (path[2:], "", None)
        if name not in self.objects:
            return _json({"error": {"code": 404, "message": "Not Found"}}, 404)
        body, acl = self.objects[name]
        if is_acl is not None:
            uniform = self.access.get("uniformBucketLevelAccess") == {"enabled": True}
            wrong = {"code": 400, "message": "Cannot get legacy ACL for an object"}
            return _json({"error": wrong}, 400) if uniform else _json({"items": acl})
        return web.Response(body=body) if request.query.get("alt") == "media" else _json(self._object(name))

    def _list(self, query: Mapping[str, str]) -> web.StreamResponse:
        prefix, first = query.get("prefix", ""), int(query.get("pageToken", 0))
        rest = [name[len(prefix) :] for name in sorted(self.objects) if name.startswith(prefix)]
        if query.get("delimiter") == "/":
            rest = [*dict.fromkeys(each.partition("/")[0] + "/" * ("/" in each) for each in rest)]
        page, further = rest[first : first + _PAGE], first + _PAGE
        found = [self._object(prefix + each) for each in page if not each.endswith("/")]
        answer: dict[str, object] = {
            "kind": "storage#objects",
            "items": found,
            "prefixes": [prefix + each for each in page if each.endswith("/")],
        }
        return _json(answer | ({"nextPageToken": str(further)} if further < len(rest) else {}))

    def _object(self, name: str) -> dict[str, object]:
        moment = "2026-01-02T03:04:05.000Z"
        body = self.objects[name][0]
        times = {"timeCreated": moment, "updated": moment}
        known = {"bucket": BUCKET, "name": name, "size": str(len(body)), "etag": f"{hash(body):x}", "generation": "1"}
        return {"kind": "storage#object", **known, **times, "contentType": "text/markdown"}


def _grant(entity: str) -> Mapping[str, str]:
    kind, _, address = entity.partition("-")
    told = {"email": address} if kind in ("user", "group") else {}
    return {"kind": "storage#objectAccessControl", "entity": entity, "role": "READER", **told}


def _json(value: object, status: int = 200) -> web.StreamResponse:
    return web.Response(body=json.dumps(value).encode(), status=status, content_type="application/json")


@contextmanager
def google_store() -> Iterator[GoogleStore]:
    """Lend the store, and point gcsfs at it: its plain file system, as the other one asks by gRPC what a bucket is."""
    from gcsfs.core import GCSFileSystem

    given = fsspec.config.conf
    before = dict(given)
    with WebServer() as server:
        access = {"token": "anon", "endpoint_url": server.url, "use_listings_cache": False, "skip_instance_cache": True}
        given.update(gs=access, gcs=access)
        fsspec.register_implementation("gs", GCSFileSystem, clobber=True)
        try:
            yield GoogleStore(server)
        finally:
            given.clear()
            given.update(before)

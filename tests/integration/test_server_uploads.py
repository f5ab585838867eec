"""Uploads over HTTP: files that arrive whole become documents, and whatever else arrives leaves nothing."""

import hashlib
import html
import os
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.admin.audit import audit_events
from sourcebook.admin.collections import collection_names
from sourcebook.admin.work_requests import claim_work, end_work
from tests.integration.http_server import Answer, Client, serving
from tests.integration.mcp_client import Agent, over_http
from tests.integration.stages import Stages
from tests.integration.test_uploads import KNOTS, TIDES
from tests.waiting import wait_until

CONFIGURATION = """\
collections:
  handbook: {files: [{root: ./docs}]}
  personnel: {files: [{root: ./docs}]}
"""
BOUNDARY = "a7f3"


@pytest.fixture
def base(stages: Stages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stages:
    monkeypatch.setenv("SOURCEBOOK_UPLOADS", str(tmp_path / "uploads"))
    monkeypatch.setenv("SOURCEBOOK_UPLOAD_LIMIT", "2MB")
    stages.root.mkdir(exist_ok=True)
    stages.configure(CONFIGURATION)
    return stages


def form(*files: tuple[str, bytes], field: str = "file") -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{field}"; filename="{{}}"\r\n\r\n'
    parts = [head.format(name).encode() + content + b"\r\n" for name, content in files]
    return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


def send(client: Client, body: bytes, query: str = "collection=handbook", **headers: str) -> Answer:
    kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", **headers}
    return client.request("POST", f"/v1/documents?{query}", body, kind)


def stored(base: Stages) -> int:
    return sum(path.is_file() for path in (base.root.parent / "uploads").rglob("*"))


def key(base: Stages, *scopes: str, only: list[str] | None = None) -> str:
    with base.connection() as connection:
        _, text = create_key(connection, f"key of {scopes}", scopes, only, actor="test")  # type: ignore[arg-type]
    return text


def test_files_become_documents(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        body = form(("notes/tides.md", TIDES), ("Knoten ü.md", KNOTS))
        answer = send(client, body, "collection=handbook&tag=water&tag=notes")
        assert answer.status == 202
        tides, knots = answer.json["uploads"]
        assert (tides["name"], tides["version"], tides["changed"]) == ("notes/tides.md", 1, True)
        assert re.fullmatch(r"upload://[0-9a-f]{10}/Knoten%20%C3%BC\.md", knots["uri"])
        assert knots["bytes"] == len(KNOTS)
        assert tides["sha256"] == hashlib.sha256(TIDES).hexdigest()
        assert answer.json["work"]["state"] == "waiting"
        assert answer.json["work"]["arguments"] == {"documents": [tides["uri"], knots["uri"]], "kinds": ["uploads"]}
        base.run()
        found = client.post("/v1/search", {"query": "walrus", "mode": "keyword", "filters": {"tags": ["water"]}})
        assert [hit["uri"] for hit in found.json["results"]] == [knots["uri"]]

        again = send(client, body)
        assert [each["changed"] for each in again.json["uploads"]] == [False, False]
        with base.connection() as connection:
            actions = [event.action for event in audit_events(connection)]
        assert actions == ["work.sync", "work.sync", "upload.add", "upload.add"]


def test_one_file_is_put_listed_and_removed(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        put = client.request("PUT", "/v1/uploads/handbook/notes/50%25%20tides.md?tag=water", TIDES)
        assert (put.status, put.json["uploads"][0]["name"]) == (202, "notes/50% tides.md")
        again = client.request("PUT", "/v1/uploads/handbook/notes/50%25%20tides.md", KNOTS)
        assert again.json["uploads"][0]["version"] == 2
        client.request("PUT", "/v1/uploads/personnel/a.md", TIDES)
        first = client.get("/v1/uploads?limit=1").json
        second = client.get(f"/v1/uploads?limit=1&cursor={first['next_cursor']}").json
        assert [page["uploads"][0]["collection"] for page in (first, second)] == ["handbook", "personnel"]
        assert second["next_cursor"] is None
        assert first["uploads"][0]["tags"] == ["water"]
        versions = client.get("/v1/uploads/handbook/notes/50%25%20tides.md").json["versions"]
        assert [each["version"] for each in versions] == [2, 1]
        base.run()
        assert base.found("walrus")

        page = client.get("/collections", Accept="text/html").content.decode()
        assert [each in page for each in ("upload://", "uploads, read")] == [True, True]
        assert client.get("/documents", Accept="text/html").status == 200

        removed = client.request("DELETE", "/v1/uploads?collection=handbook&name=notes/50%25%20tides.md")
        assert (removed.status, removed.json["work"]["collection"]) == (202, "handbook")
        assert removed.json["uploads"][0]["removed_at"] is not None
        base.run()
        assert not base.found("walrus")
        again = client.request("DELETE", "/v1/uploads?collection=handbook&name=notes/50%25%20tides.md")
        assert (again.status, again.json["detail"]) == (404, "there is no such upload")
        assert client.get("/v1/uploads/handbook/other.md").status == 404


SECRET = "qpxzwv"
BAD_BODIES: list[tuple[bytes, dict[str, str], int]] = [
    (form(("a.md", TIDES))[:-30], {}, 400),
    (form(("a.md", TIDES), ("b.md", KNOTS))[:-70], {}, 400),
    (b"", {}, 400),
    (b"no form at all", {}, 400),
    (form(("a.md", TIDES)), {"Content-Type": "application/json"}, 415),
    (form(("a.md", TIDES)), {"Content-Type": "text/plain"}, 415),
    (form(("a.md", TIDES)), {"Content-Encoding": "gzip"}, 415),
    (form(("a.md", TIDES)), {"Content-Type": "multipart/form-data"}, 400),
    (form(("a.md", TIDES)), {"Content-Type": f"multipart/form-data; boundary={'b' * 300}"}, 400),
    (form(("a.md", TIDES)), {"Content-Type": "multipart/form-data; boundary=other"}, 400),
    (form(), {}, 422),
    (form((f"{SECRET}.md", b"")), {}, 422),
    (form((f"{SECRET}.md", b""), (f"../{SECRET}.md", b"")), {}, 422),
    (form((f"../{SECRET}.md", TIDES)), {}, 422),
    (form((f"/etc/{SECRET}", TIDES)), {}, 422),
    (form((f"{SECRET}\0.md", TIDES)), {}, 422),
    (form((SECRET * 50, TIDES)), {}, 422),
    (form(("", TIDES)), {}, 422),
    (form(("a.md", TIDES), ("a.md", KNOTS)), {}, 400),
    (form(("a.md", TIDES), field=SECRET), {}, 422),
    (form(("a.md", TIDES)).replace(b"filename", b"other"), {}, 422),
    (form(("a.md", TIDES)).replace(b"a.md", b"\xff\xfe"), {}, 422),
    (form(("a.md", TIDES)).replace(b"\r\nContent", b"\r\nX: " + b"y" * 100_000 + b"\r\nContent"), {}, 400),
    (form(("a.md", b"x" * 2_000_001)), {}, 413),
]


def test_bad_bodies_leave_nothing(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        for body, headers, status in BAD_BODIES:
            answer = send(client, body, **headers)
            told = (answer.status, answer.headers["content-type"])
            assert told == (status, "application/problem+json"), (body[:200], answer.content)
            assert SECRET.encode() not in answer.content
            assert stored(base) == 0
        assert client.get("/v1/uploads").json["uploads"] == []
        assert base.rows("SELECT * FROM work_request") == []


def test_each_file_of_a_body_has_an_outcome(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        files = (("empty.md", b""), ("tides.md", TIDES), ("../up.md", KNOTS), ("wrong.exe", b"MZ\x90\0" + bytes(99)))
        answer = send(client, form(*files))
        assert answer.status == 202
        assert [each["name"] for each in answer.json["uploads"]] == ["tides.md", "wrong.exe"]
        refused = {each["name"]: each["reason"] for each in answer.json["refused"]}
        assert (set(refused), refused["empty.md"]) == ({"empty.md", "../up.md"}, "has no bytes")
        assert stored(base) == 2
        tides, program = answer.json["uploads"]
        path = f"/v1/documents/{tides['document_id']}"
        assert client.get(path).json["document"]["state"] == "pending"
        page = client.get("/v1/documents?limit=1&sort=-created").json
        rest = client.get(f"/v1/documents?limit=1&sort=-created&cursor={page['next_cursor']}").json
        assert (page["total"], rest["total"]) == (2, None)
        assert {each["documents"][0]["uri"] for each in (page, rest)} == {tides["uri"], program["uri"]}

        number = answer.json["work"]["id"]
        with base.connection() as connection:
            assert claim_work(connection, worker="test") is not None
            base.run()
            end_work(connection, number, "succeeded", failed=0)
        (unread,) = client.get(f"/v1/work-requests/{number}").json["unread"]
        assert (unread["uri"], unread["state"], bool(unread["reason"])) == (program["uri"], "skipped", True)
        assert f">wrong.exe: {unread['reason']}" in html.unescape(client.get(f"/work/{number}").content.decode())
        changed = client.request("PATCH", path, b'{"title": "High water"}', {"Content-Type": "application/json"})
        assert (changed.status, changed.json["given_title"]) == (200, "High water")
        found = client.post("/v1/search", {"query": "barnacle", "mode": "keyword"}).json["results"]
        assert [(hit["title"], hit["total_chunks"]) for hit in found] == [("High water", 1)]
        titled = client.request("PUT", "/v1/uploads/handbook/knots.md?title=Bowlines", KNOTS).json["uploads"][0]
        assert client.get(f"/v1/documents/{titled['document_id']}").json["document"]["title"] == "Bowlines"
        two = send(client, form(("a.md", TIDES), ("b.md", KNOTS)), "collection=handbook&title=Both")
        assert (two.status, "one file" in two.json["detail"]) == (400, True)


def test_a_body_without_a_length_is_cut_off_at_the_limit(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        pieces = iter([b"x" * 100_000] * 30)
        answer = client.request("PUT", "/v1/uploads/handbook/a.txt", pieces)  # type: ignore[arg-type] # sent in chunks
        assert answer.status == 413
        assert stored(base) == 0
        assert client.request("PUT", "/v1/uploads/handbook/a.txt", b"").status == 422
        for name in ("..%2Fa", "a%00b", "%2Fetc%2Fpasswd", "b" * 256):
            assert client.request("PUT", f"/v1/uploads/handbook/{name}", TIDES).status in {400, 404}
        assert stored(base) == 0


def _open(client: Client, path: str, length: int, *headers: str) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", client.port), timeout=30)
    lines = [f"PUT {path} HTTP/1.1", "Host: localhost", f"Content-Length: {length}", *headers, "", ""]
    connection.sendall("\r\n".join(lines).encode())
    return connection


def test_a_body_above_the_limit_is_refused_before_it_is_read(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        with _open(client, "/v1/uploads/handbook/a.txt", 1_000_000_000) as connection:
            assert connection.recv(100).startswith(b"HTTP/1.1 413")
        with _open(client, "/v1/uploads/nowhere/a.txt", 1_000_000) as connection:
            assert connection.recv(100).startswith(b"HTTP/1.1 404")


def test_a_client_that_goes_away_leaves_nothing(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        with _open(client, "/v1/uploads/handbook/a.txt", 2_000_000) as connection:
            connection.sendall(b"x" * 1_500_000)
            wait_until(lambda: stored(base) == 1, what="the upload has begun")
        wait_until(lambda: stored(base) == 0, what="the upload is gone")
        assert client.get("/v1/uploads").json["uploads"] == []


def test_keys_upload_to_what_they_see(base: Stages) -> None:
    with serving(base.knowledge, requires_key=True) as client:
        reader = Client(client.port, key(base, "read"))
        writer = Client(client.port, key(base, "write", only=["handbook"]))
        assert send(client, form(("a.md", TIDES))).status == 401
        assert send(reader, form(("a.md", TIDES))).status == 403
        assert send(writer, form(("a.md", TIDES)), "collection=personnel").status == 404
        assert send(writer, form(("a.md", TIDES)), "collection=nowhere").status == 404
        assert stored(base) == 0
        done = send(writer, form(("a.md", TIDES)))
        assert (done.status, done.json["uploads"][0]["uploaded_by"]) == (202, "key key of ('write',)")
        base.knowledge.upload("personnel", "secret.md", KNOTS)
        assert [each["name"] for each in writer.get("/v1/uploads").json["uploads"]] == ["a.md"]
        assert writer.get("/v1/uploads/personnel/secret.md").status == 404
        assert writer.request("DELETE", "/v1/uploads?collection=personnel&name=secret.md").status == 404
        assert reader.request("DELETE", "/v1/uploads?collection=handbook&name=a.md").status == 403
        assert len(base.knowledge.uploads()) == 2


def test_a_page_of_another_site_cannot_upload(base: Stages) -> None:
    """A form of any page may be sent to this machine; the browser says where it comes from."""
    with serving(base.knowledge, requires_key=False) as client:
        origins = [{"Origin": each} for each in ("https://evil.example", "null", "http://127.0.0.1:1")]
        for headers in (*origins, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
            assert send(client, form(("a.md", TIDES)), **headers).status == 403
        assert stored(base) == 0
        own = {"Origin": f"http://127.0.0.1:{client.port}", "Sec-Fetch-Site": "same-origin"}
        assert send(client, form(("a.md", TIDES)), **own).status == 202


def test_the_same_upload_at_once_is_one_version(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client, ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda _: send(client, form(("a.md", TIDES))), range(6)))
    assert [answer.status for answer in answers] == [202] * 6
    assert [each["version"] for answer in answers for each in answer.json["uploads"]] == [1] * 6
    assert stored(base) == 1


def test_a_store_that_cannot_be_written_is_no_fault_of_the_client(base: Stages) -> None:
    (base.root.parent / "uploads").write_text("not a folder")
    with serving(base.knowledge, requires_key=False) as client:
        answer = send(client, form(("a.md", TIDES)))
        assert answer.status == 503
        assert str(base.root.parent) not in answer.content.decode()
        with base.connection() as connection:
            assert collection_names(connection) == ["handbook", "personnel"]


def test_a_full_disk_is_named(base: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    """/dev/full answers every write as a full disk does."""
    real = os.open

    def full(path: Any, flags: int, *more: Any, **named: Any) -> int:
        return real("/dev/full", os.O_WRONLY) if flags & os.O_CREAT else real(path, flags, *more, **named)

    async def work(agent: Agent) -> None:
        assert "there is no space for the upload" in await agent.refused(
            "ingest_documents", collection="handbook", documents=[{"name": "a.md", "text": "# A"}]
        )

    with serving(base.knowledge, requires_key=False) as client:
        monkeypatch.setattr(os, "open", full)
        answer = send(client, form(("a.md", TIDES)))
        over_http(client.port, work)
        monkeypatch.undo()
    assert (answer.status, answer.json["detail"][:17]) == (507, "there is no space")
    assert base.knowledge.uploads() == []


def test_odd_values_are_refused_without_a_server_error(base: Stages) -> None:
    """NUL, bytes that are no UTF-8, lone surrogates, long texts, foreign cursors."""
    odd = ["%00", "a%00b", "%ED%A0%80", "%ff%fe", "%0d%0aX:y", "%3Cscript%3E", "..%2f..%2fetc", "%E2%80%A8"]
    kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    with serving(base.knowledge, requires_key=False) as client:
        for value in (*odd, "x" * 10_001):
            for method, path, body in (
                ("GET", f"/v1/uploads?collection={value}", None),
                ("GET", f"/v1/uploads?cursor={value}", None),
                ("GET", f"/v1/uploads?limit={value}", None),
                ("GET", f"/v1/uploads/{value}/a.md", None),
                ("GET", f"/v1/uploads/handbook/{value}", None),
                ("DELETE", f"/v1/uploads?collection=handbook&name={value}", None),
                ("DELETE", f"/v1/uploads?collection={value}&name=a.md", None),
                ("PUT", f"/v1/uploads/{value}/a.md", TIDES),
                ("PUT", f"/v1/uploads/handbook/{value}?tag={value}", TIDES),
                ("PUT", f"/v1/uploads/handbook/a.md?tag={value}", TIDES),
                ("POST", f"/v1/documents?collection={value}", form(("a.md", TIDES))),
            ):
                answer = client.request(method, path, body, kind)
                assert answer.status < 500, (method, path, answer.content)
                if answer.status >= 400:
                    assert answer.headers["content-type"] == "application/problem+json"
                    assert b"script" not in answer.content
                    assert b"xxxx" not in answer.content
        for cursor in ("e30", "W10", "WyJhIiwgMV0", "WyJhIl0"):
            assert client.get(f"/v1/uploads?cursor={cursor}").status == 400


def test_names_that_are_no_utf_8_are_refused(base: Stages) -> None:
    """They would all arrive as U+FFFD, and one upload would replace another."""
    with serving(base.knowledge, requires_key=False) as client:
        for name in ("a%ff.txt", "a%fe.txt", "a%ed%a0%80.txt"):
            answer = client.request("PUT", f"/v1/uploads/handbook/{name}", TIDES)
            assert (answer.status, answer.json["detail"]) == (400, "the name of an upload is encoded as UTF-8")
        assert client.request("PUT", "/v1/uploads/handbook/Gr%C3%BC%C3%9Fe.txt", TIDES).status == 202
        assert [each["name"] for each in client.get("/v1/uploads").json["uploads"]] == ["Grüße.txt"]


def test_a_server_that_starts_deletes_what_a_killed_one_left(base: Stages) -> None:
    """Half an upload is in a folder that no process holds."""
    left = base.root.parent / "uploads" / "incoming" / "0b5f" / "half"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    with serving(base.knowledge, requires_key=False) as client:
        assert client.get("/health").status == 200
        assert not left.parent.exists()

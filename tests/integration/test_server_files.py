"""The REST server gives originals, pictures of pages and exports, which a browser cannot be harmed by."""

import os
import socket
from email.message import Message
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote
from zipfile import ZipFile

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.knowledge_base import KnowledgeBase
from tests.checkout import EXAMPLES
from tests.integration.http_server import Client, serving
from tests.integration.stages import Stages
from tests.waiting import wait_until

REPORT = (EXAMPLES / "library" / "reports" / "annual-review-2024.pdf").read_bytes()
HOSTILE = "<script>alert(1)</script>"
NAMES = ("plain.txt", f"{HOSTILE.replace('/', '_')}.html", 'quo"te; filename=x.html\r\n', "ünïcödé 図書.md", "x" * 250)
CONFIGURATION = """\
collections:
  handbook: {files: [{root: ./docs/handbook, tags: [shared]}]}
  all: {from: [{collection: handbook, tags: [shared]}]}
"""


def fill(stages: Stages) -> None:
    for name in NAMES:
        stages.write(f"handbook/{name}", f"# A title\n\n<p>{HOSTILE} The batteries of {len(name)} last.</p>\n")
    stages.write("handbook/report.pdf", REPORT)
    stages.configure(CONFIGURATION)
    stages.run_all("handbook", "all")
    stages.collection = "handbook"


@pytest.fixture
def base(filled: Stages) -> Stages:
    return filled


def number(base: Stages, name: str) -> int:
    return int(
        base.rows(
            "SELECT id FROM document WHERE uri = %(uri)s AND collection = 'handbook'", uri=base.uri(f"handbook/{name}")
        )[0]["id"]
    )


def test_an_original_comes_as_a_file_that_runs_nothing(base: Stages, knowledge: KnowledgeBase) -> None:
    with serving(knowledge, requires_key=False) as client:
        for name in NAMES:
            path = f"/v1/documents/{number(base, name)}/original"
            for query in ("", "?inline=true"):
                answer = client.get(path + query)
                assert answer.status == 200
                assert answer.content == (base.root / "handbook" / name).read_bytes()
                assert answer.headers["content-length"] == str(len(answer.content))
                assert answer.headers["x-content-type-options"] == "nosniff"
                assert "sandbox" in answer.headers["content-security-policy"]
                header = answer.headers["content-disposition"]
                assert "<" not in header
                assert header.isascii()
                parsed = Message()
                parsed["Content-Disposition"] = header
                kind = parsed.get_content_disposition()
                assert kind == ("inline" if query and answer.headers["content-type"] == "text/plain" else "attachment")
                given = unquote(header.partition("filename*=UTF-8''")[2])
                cleaned = name.replace("\r\n", "__")
                assert given == cleaned[:150]
            if name.endswith(".html"):
                assert answer.headers["content-type"] == "text/html"


def test_parts_of_an_original_are_given(base: Stages, knowledge: KnowledgeBase) -> None:
    size = len(REPORT)
    with serving(knowledge, requires_key=False) as client:
        path = f"/v1/documents/{number(base, 'report.pdf')}/original"
        whole = client.get(path)
        assert (whole.status, whole.content, whole.headers["accept-ranges"]) == (200, REPORT, "bytes")
        tag = whole.headers["etag"]
        for wanted, start, end in [
            ("bytes=0-0", 0, 1),
            ("bytes=10-19", 10, 20),
            (f"bytes={size - 5}-", size - 5, size),
            ("bytes=-7", size - 7, size),
            (f"bytes=5-{size * 9}", 5, size),
            (f"bytes=-{size * 9}", 0, size),
        ]:
            part = client.get(path, Range=wanted)
            assert (part.status, part.content) == (206, REPORT[start:end])
            assert part.headers["content-range"] == f"bytes {start}-{end - 1}/{size}"
        for wanted in (f"bytes={size}-", "bytes=-0", f"bytes={10**17}-"):
            refused = client.get(path, Range=wanted)
            assert (refused.status, refused.headers["content-range"]) == (416, f"bytes */{size}")
        for wanted in ("bytes=9-3", "bytes=0-1,4-5", "lines=0-1", "bytes=-", "bytes=a-b", f"bytes={'9' * 30}-"):
            assert client.get(path, Range=wanted).status == 200
        assert client.get(path, Range="bytes=0-0", If_Range='"another"').content == REPORT
        assert client.get(path, Range="bytes=0-0", If_Range=tag).content == REPORT[:1]
        again = client.get(path, If_None_Match=tag)
        assert (again.status, again.content) == (304, b"")
        assert client.get(f"{path}?inline=1").headers["content-disposition"].startswith("inline")


@pytest.mark.changes_files
def test_an_original_that_has_changed_is_gone(base: Stages, knowledge: KnowledgeBase) -> None:
    document = number(base, "plain.txt")
    Path(base.root / "handbook" / "plain.txt").write_text("changed since")
    with serving(knowledge, requires_key=False) as client:
        gone = client.get(f"/v1/documents/{document}/original")
        assert (gone.status, gone.headers["content-type"]) == (410, "application/problem+json")
        assert gone.headers["cache-control"] == "no-store"
        assert "another version" in gone.json["detail"]
        (base.root / "handbook" / "report.pdf").unlink()
        assert client.get(f"/v1/documents/{number(base, 'report.pdf')}/pages/1.png").status == 410


def test_a_page_is_a_picture_with_a_passage_marked(base: Stages, knowledge: KnowledgeBase) -> None:
    document = number(base, "report.pdf")
    passage = next(each for each in knowledge.show(document).passages if each.page == 2)
    with serving(knowledge, requires_key=False) as client:
        path = f"/v1/documents/{document}/pages"
        plain = client.get(f"{path}/2.png")
        assert (plain.status, plain.headers["content-type"], plain.content[:4]) == (200, "image/png", b"\x89PNG")
        assert client.get(f"{path}/2.png", If_None_Match=plain.headers["etag"]).status == 304
        marked = client.get(f"{path}/2.png?passage={passage.ordinal}&scale=0.5")
        assert len(marked.content) < len(plain.content)
        places = client.get(f"{path}/2?passage={passage.ordinal}").json
        assert (places["page"], places["pages"]) == (2, 4)
        assert places["boxes"]
        assert all(len(box) == 4 and 0 <= min(box) <= max(box) <= 1 for box in places["boxes"])
        for status, refused in [
            (400, "99.png"),
            (400, "1.png?passage=999"),
            (422, "0.png"),
            (422, "1.png?scale=0"),
            (422, "1.png?scale=nan"),
            (422, "1.png?scale=11"),
            (422, "1.png?passage=-1"),
            (404, "x.png"),
        ]:
            assert client.get(f"{path}/{refused}").status == status, refused
        assert client.get(f"/v1/documents/{number(base, 'plain.txt')}/pages/1.png").status == 400


def test_a_document_is_exported_as_markdown(base: Stages, knowledge: KnowledgeBase) -> None:
    knowledge.change_document(number(base, "plain.txt"), tags=["winter"])
    with serving(knowledge, requires_key=False) as client:
        answer = client.get(f"/v1/documents/{number(base, 'plain.txt')}/export")
        assert (answer.status, answer.headers["content-type"]) == (200, "text/markdown; charset=utf-8")
        assert answer.headers["content-disposition"].startswith('attachment; filename="plain-')
        head, _, text = answer.content.decode().removeprefix("---\n").partition("---\n")
        assert 'tags: ["shared", "winter"]' in head
        assert f'location: "{base.root}' in head.replace('"kind": "files", "location"', "location")
        assert "batteries of 9 last" in text
        assert client.get("/v1/documents/999999/export").status == 404

        ids = [number(base, "plain.txt"), number(base, "ünïcödé 図書.md"), number(base, "plain.txt")]
        several = client.post("/v1/documents/export", {"documents": ids})
        assert (several.status, several.headers["content-type"]) == (200, "application/zip")
        with ZipFile(BytesIO(several.content)) as archive:
            assert len(archive.namelist()) == 2
            assert all(name.startswith("handbook/") for name in archive.namelist())
            assert archive.read(archive.namelist()[0]) == answer.content
        for status, refused in [(404, [*ids, 999_999]), (422, []), (422, [1] * 501), (404, [10**30])]:
            assert client.post("/v1/documents/export", {"documents": refused}).status == status


def test_files_of_documents_that_a_key_does_not_see_do_not_exist(base: Stages, knowledge: KnowledgeBase) -> None:
    with base.connection() as connection:
        _, text = create_key(connection, "guest", ("read",), ["all"], lasts=None, actor="test")
    hidden = number(base, "report.pdf")
    taken = next(item for item in knowledge.documents("all") if item.uri.endswith("report.pdf")).document_id
    with serving(knowledge, requires_key=True) as anyone:
        client = Client(anyone.port, text)
        for path in ("original", "export", "pages/1.png", "pages/1"):
            assert client.get(f"/v1/documents/{hidden}/{path}").status == 404
            assert client.get(f"/v1/documents/{taken}/{path}").status == 200
            assert anyone.get(f"/v1/documents/{taken}/{path}").status == 401
        assert b'handbook"' not in client.get(f"/v1/documents/{taken}/export").content


@pytest.mark.changes_files
def test_a_client_that_leaves_in_the_middle_leaves_no_file_open(base: Stages, knowledge: KnowledgeBase) -> None:
    """Nor does one that has read all of it, or asks for what is not there."""
    path = base.root / "handbook" / "report.pdf"
    with path.open("ab") as file:
        file.truncate(50_000_000)  # more than a socket holds
    base.settle(path)
    base.run()
    document = number(base, "report.pdf")

    def held() -> int:
        opened = (os.path.realpath(each) for each in Path("/proc/self/fd").iterdir())
        return sum(each == str(path) for each in opened)

    with serving(knowledge, requires_key=False) as client:
        for _ in range(5):
            with socket.create_connection(("127.0.0.1", client.port)) as leaving:
                leaving.sendall(f"GET /v1/documents/{document}/original HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                assert leaving.recv(100).startswith(b"HTTP/1.1 200")
        assert len(client.get(f"/v1/documents/{document}/original").content) == 50_000_000
        assert client.get(f"/v1/documents/{document}/original", Range="bytes=60000000-").status == 416
        wait_until(lambda: held() == 0, what="every file is closed")

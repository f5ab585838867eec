"""Files that a person adds on the page, as a browser without scripts sends them."""

import html
from collections.abc import Iterator, Sequence

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.admin.audit import audit_events
from tests.integration.http_server import Answer, Client, serving
from tests.integration.inert_pages import Page
from tests.integration.page_forms import Browser, fields_of
from tests.integration.stages import Stages

BOUNDARY = "----boundary"
HOSTILE = "<script>canary()</script>.md"


@pytest.fixture
def base(stages: Stages) -> Stages:
    names = ("handbook", "letters")
    stages.configure("collections:\n" + "".join(f"  {name}: {{files: [{{root: ./docs/{name}}}]}}\n" for name in names))
    return stages


@pytest.fixture
def open_server(base: Stages) -> Iterator[Client]:
    with serving(base.knowledge, requires_key=False) as client:
        yield client


def send(
    browser: Browser,
    name: str,
    files: Sequence[tuple[str, bytes]],
    *,
    fields: dict[str, str] | None = None,
    **headers: str,
) -> Answer:
    """Send the form of an upload: its fields first, then its files."""
    sent = {"token": browser.cookies.get("sourcebook_form", "")} if fields is None else fields
    parts = [f'name="{field}"\r\n\r\n{value}'.encode() for field, value in sent.items()]
    for file, content in files:
        head = f'name="file"; filename="{file}"\r\nContent-Type: application/octet-stream\r\n\r\n'
        parts.append(head.encode() + content)
    body = b"".join(b"--%b\r\nContent-Disposition: form-data; %b\r\n" % (BOUNDARY.encode(), part) for part in parts)
    cookie = "; ".join(f"{key}={value}" for key, value in browser.cookies.items())
    named = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "Accept": "text/html", "Cookie": cookie}
    path = f"/collections/{name}/upload"
    return browser.client.request("POST", path, body + f"--{BOUNDARY}--\r\n".encode(), {**named, **headers})


def test_files_are_added_and_lead_to_their_work(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    assert {"/collections/handbook/upload", "/collections/letters/upload"} <= set(browser.open("/upload").links)
    page = browser.open("/collections/handbook/upload")
    (fields,) = fields_of(page, "/collections/handbook/upload")
    answer = send(
        browser,
        "handbook",
        [("a.md", b"# A\n\nMarmalade."), (HOSTILE, b"# B")],
        fields={**fields, "tag": "x, of winter,"},
    )
    (work,) = base.knowledge.work_requests()
    assert (answer.status, answer.headers["location"]) == (303, f"/work/{work.id}")
    assert {each.name: each.tags for each in base.knowledge.uploads()} == dict.fromkeys(
        ("a.md", HOSTILE), ("x", "of winter")
    )
    assert sorted(work.arguments["documents"]) == sorted(each.uri for each in base.knowledge.uploads())
    with base.connection() as connection:
        assert {each.actor for each in audit_events(connection)} == {"local caller"}
    page = browser.open(f"/work/{work.id}")
    assert [page.text.count(said) for said in ("pending", HOSTILE)] == [2, 2]
    base.run()
    assert browser.open(f"/work/{work.id}").text.count("ready") == 2
    for item in base.knowledge.documents("handbook"):
        assert "Upload 1" in browser.open(f"/documents/{item.document_id}").text
    assert send(browser, "handbook", [("a.md", b"# A\n\nHoney.")]).status == 303
    base.run()
    (item,) = base.knowledge.documents("handbook", text="a.md")
    page = browser.open(f"/documents/{item.document_id}")
    assert page.text.index("Upload 2") < page.text.index("Upload 1")
    assert base.knowledge.show(item.document_id or 0).tags == ["x", "of winter"]

    some = send(browser, "handbook", [("b.md", b"# B"), (HOSTILE, b""), ("../c.md", b"# C")])
    number = max(each.id for each in base.knowledge.work_requests())
    page = Page(some.content)
    assert (some.status, page.acting()) == (202, [])
    assert f"/work/{number}" in page.links
    assert all(
        said in html.unescape(some.content.decode()) for said in ("1 added", f"{HOSTILE}: has no bytes", "../c.md: ")
    )
    chosen = send(browser, "handbook", [("e.md", b"# E"), ("", b"")])  # and no folder
    assert (chosen.status, base.knowledge.work_requests()[0].arguments["documents"][0][-4:]) == (303, "e.md")
    told = send(browser, "handbook", [("b.md", b"# B"), ("d.md", b"")], Accept="application/problem+json").json
    assert [each["name"] for each in told["uploads"]] == ["b.md"]
    assert told["refused"] == [{"name": "d.md", "reason": "has no bytes"}]


def test_what_is_wrong_is_said_beside_the_form(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    browser.open("/collections/handbook/upload")
    token = {"token": browser.cookies["sourcebook_form"]}
    for files, fields, status in (
        ([("", b"")], None, 422),
        ([], None, 422),
        ([("../a.md", b"a")], None, 422),
        ([("a.md", b"")], None, 422),
        ([("a.md", b""), ("x" * 300, b"b")], None, 422),
        ([("a.md", b"a")], {**token, "tag": "x" * 101}, 422),
        ([("a.md", b"a")], {**token, "tag": "x" * 2_000}, 422),
        ([("a.md", b"a")], {**token, "other": "x"}, 422),
        ([("a.md", b"a")], {"token": "x" * 43}, 403),
        ([("a.md", b"a")], {}, 403),
    ):
        answer = send(browser, "handbook", files, fields=fields)
        assert answer.status == status, (files, fields)
        page = Page(answer.content)
        assert page.acting() == []
        if status == 422:
            assert [held for tag, held in page.tags if held.get("role") == "alert" and "hidden" not in held]
    program = send(browser, "handbook", [("a.md", b"")], Accept="application/problem+json")
    assert (program.status, program.json["detail"]) == (422, "file 1 has no bytes")
    assert send(browser, "handbook", [("a.md", b"a")], Sec_Fetch_Site="cross-site").status == 403
    assert send(browser, "nothing", [("a.md", b"a")]).status == 404
    assert (base.knowledge.uploads(), base.knowledge.work_requests()) == ([], [])


def test_only_a_key_that_may_write_adds_files_and_only_where_it_sees(base: Stages) -> None:
    with base.connection() as connection:
        keys = {
            scope: create_key(connection, scope, (scope,), ["letters"], actor="test")[1] for scope in ("read", "write")
        }
    with serving(base.knowledge, requires_key=True) as client:
        reader, writer = Browser(client, keys["read"]), Browser(client, keys["write"])
        assert not [link for link in reader.open("/collections").links if link.endswith("/upload")]
        for path in ("/upload", "/collections/letters/upload"):
            assert reader.get(path).status == 403
        assert send(reader, "letters", [("a.md", b"a")]).status == 403
        assert writer.get("/collections/handbook/upload").status == 404
        assert send(writer, "handbook", [("a.md", b"a")]).status == 404
        answer = writer.get("/upload")
        assert (answer.status, answer.headers["location"]) == (303, "/collections/letters/upload")
        assert send(writer, "letters", [("a.md", b"a")]).status == 303
        assert send(Browser(client), "letters", [("a.md", b"a")]).status == 303  # to the sign-in
    (upload,) = base.knowledge.uploads()
    assert upload.uploaded_by == "key write"

"""The pages over plain HTTP, without a script: what they show, and what in documents stays inert."""

import re
import time
from urllib.parse import quote

import pytest

from sourcebook.admin.logged_queries import logged_queries
from sourcebook.server.page.security_headers import HEADERS
from tests.integration.http_server import Answer, Client, serving
from tests.integration.inert_pages import Page
from tests.integration.stages import Stages

POWER = """\
# Power

The batteries of the tide gauge last fourteen months.

## Charging

In winter the charging of the batteries takes a whole day, and nobody may open the housing of the gauge meanwhile.
"""
CONFIGURATION = """\
collections:
  handbook: {files: [{root: ./docs/handbook, tags: [manual]}], retention: {queries: 30d}}
  letters: {files: [{root: ./docs/letters}]}
"""
CANARY = "canary()"
HOSTILE = f"""\
---
title: <script>{CANARY}</script>
homepage: "javascript:{CANARY}"
website: "https://example.org/?a=1&b=2"
"<script>{CANARY}</script>": <img src=x onerror={CANARY}>
---
# <script>{CANARY}</script>

Marmalade <script>{CANARY}</script><img src=x onerror={CANARY}><svg onload={CANARY}></svg><iframe src="/"></iframe>

[a](javascript:{CANARY}) [b](data:text/html,{CANARY}) [c](https://example.org/c) [d](//example.org/d) ![e](https://example.org/e.png)

<a href="https://example.org/f" onclick="{CANARY}" style="position:fixed" hx-get="/x" data-hx-get="/x" id="main">f</a>
<style>body {{ display: none }}</style><form action="https://example.org"><input name=q></form>
<base href="https://example.org/">
"""


def fill(stages: Stages) -> None:
    """A handbook whose manual is split into two passages, and letters that a file with a damaged PDF is among."""
    stages.write("handbook/power.md", POWER)
    stages.write("handbook/seal.md", "# Seals\n\nThe seal of the housing is greased in spring.")
    stages.write("letters/lost.pdf", b"%PDF-1.7\nthe rest was lost\n")
    stages.write("letters/first.md", "# To the harbour master\n\nThe gauge on the pier stands still.")
    stages.configure(CONFIGURATION)
    _take_in(stages, "handbook", "letters")


@pytest.fixture
def base(filled: Stages) -> Stages:
    return filled


def _take_in(stages: Stages, *collections: str) -> None:
    stages.run_all(*collections)


def look(client: Client, path: str, **headers: str) -> Page:
    answer = client.get(path, Accept="text/html", **headers)
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    page = Page(answer.content)
    assert page.acting() == []
    return page


def test_a_visitor_searches_and_opens_the_passage_that_was_found(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        page = look(client, "/?q=How+long+do+the+batteries+last%3F")
        link = page.links[next(n for n, link in enumerate(page.links) if link.startswith("/documents/"))]
        assert re.fullmatch(r"/documents/\d+\?passage=0#passage-0", link)
        assert "last fourteen months" in page.text
        assert "mark" in {tag for tag, _ in page.tags}
        assert re.search(r"Words\s+place 1, BM25 \d", page.text)
        assert re.search(r"“Power”.*handbook/power\.md", page.text)

        document = look(client, link.partition("#")[0])
        assert "found" in document.with_id("passage-0")[1]["class"].split()
        assert re.search(r"Power\s+handbook\s+file\s+language en\s+version 1", document.text)
        assert "manual" in document.text
        for view, tag in (("plain", "pre"), ("passages", "pre"), ("text", "p")):
            shown = look(client, f"{link.partition('?')[0]}?view={view}")
            assert "last fourteen months" in shown.text
            assert tag in {name for name, _ in shown.tags}
            assert shown.with_id("passage-0")[0] == "section"


def test_the_address_holds_the_whole_state(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        page = look(client, "/?q=gauge&all=1")
        assert {"To the harbour master", "Power"} <= {line.strip() for line in page.text.splitlines()}
        chosen = next(link for link in page.links if "collection=letters" in link)
        assert chosen == "/?q=gauge&collection=letters&all=1"
        narrowed = look(client, chosen)
        assert "To the harbour master" in narrowed.text
        assert "fourteen months" not in narrowed.text
        assert "/?q=gauge&all=1" in narrowed.links  # takes the filter away
        assert ("option", {"selected": ""}) in narrowed.tags
        assert "fourteen months" in look(client, "/?q=gauge&all=1&tag=manual&kind=file&language=en&type=md").text
        assert "How the search went" in look(client, "/?q=gauge&explain=1").text
        refused = client.get("/?q=gauge&language=english", Accept="text/html")
        assert (refused.status, b"language" in Page(refused.content).text.encode()) == (400, True)


def test_pages_of_results_follow_each_other(stages: Stages) -> None:
    for number in range(12):
        stages.write(f"{number:02}.md", f"# Buoy {number:02}\n\nThe buoy {number:02} of the lagoon is painted green.")
    stages.configure()
    stages.run()
    with serving(stages.knowledge, requires_key=False) as client:
        first = look(client, "/?q=buoy+lagoon&all=1")
        (following,) = [link for link in first.links if "offset=10" in link and "explain" not in link]
        second = look(client, following)
        titles = [re.findall(r"Buoy (\d\d)\n", page.text) for page in (first, second)]
        assert sorted(set(titles[0]) | set(titles[1])) == [f"{n:02}" for n in range(12)]
        assert "/?q=buoy+lagoon&all=1" in second.links


def test_nothing_relevant_and_a_suggestion_are_offered(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        nothing = look(client, "/?q=quantum+chromodynamics+lattice")
        assert "Nothing relevant was found." in nothing.text
        assert "/?q=quantum+chromodynamics+lattice&all=1" in nothing.links
        suggested = look(client, "/?q=bateries")
        assert "Did you mean" in suggested.text
        assert "/?q=batteries" in suggested.links
        assert "What do you want to know?" in look(client, "/?q=++").text


def test_what_is_typed_gets_results_alone_and_enters_no_log(base: Stages) -> None:
    typed = {"HX-Request": "true", "Accept": "text/html"}
    with serving(base.knowledge, requires_key=False) as client:
        part = client.get("/?q=batt&collection=&kind=&type=&language=&tag=", **typed)
        assert (part.status, part.headers["hx-replace-url"]) == (200, "/?q=batt")
        assert b"<html" not in part.content
        assert Page(part.content).acting() == []
        look(client, "/?q=batteries+of+the+gauge")
        failed = client.get("/?q=gauge&collection=nothing", **typed)
        assert (failed.status, b"<html" in failed.content) == (404, False)
    base.knowledge.release()  # writes what it has measured
    with base.connection() as connection:
        assert [each.query for each in logged_queries(connection)] == ["batteries of the gauge"]


def test_the_list_says_what_failed_and_why(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        everything = look(client, "/documents")
        assert {"Power", "Seals", "To the harbour master"} <= {line.strip() for line in everything.text.splitlines()}
        failed = look(client, "/documents?state=failed&collection=letters&kind=file&text=LOST")
        (item,) = base.knowledge.documents("letters", failed=True)
        assert item.error is not None
        assert item.error in failed.text
        assert "After 1 attempt" in failed.text
        assert "Power" not in failed.text
        assert "No document is like this." in look(client, "/documents?text=nothing").text


@pytest.mark.alone
def test_a_long_list_goes_on_where_it_ended_and_is_there_at_once(base: Stages) -> None:
    """Ten thousand documents more, as rows: the list reads no content."""
    base.rows(
        "WITH source AS (SELECT id FROM source WHERE collection = 'handbook'), made AS ("
        " INSERT INTO document (collection, source_id, uri, kind, media_type, tags, title, language, input_hash,"
        " config_hash, content_hash, version) SELECT 'handbook', source.id, 'file:///many/' || lpad(n::text, 6, '0'),"
        " 'file', 'text/markdown', '{}', 'Bulk ' || n, 'en', sha256('a'), 'x', sha256('a'), 1"
        " FROM source, generate_series(1, 10000) n RETURNING 1) SELECT count(*) FROM made"
    )
    with base.connection() as connection:
        connection.execute("ANALYZE document")
    with serving(base.knowledge, requires_key=False) as client:
        first = look(client, "/documents?text=bulk")
        (following,) = [link for link in first.links if "cursor=" in link]
        titles = [re.findall(r"Bulk (\d+)", page.text) for page in (first, look(client, following))]
        assert [int(each) for each in titles[0] + titles[1]] == list(range(1, 101))
        for path in ("/documents", "/documents?text=bulk+99", "/documents?state=pending"):
            seconds = []
            for _ in range(5):
                begun = time.perf_counter()
                client.get(path)
                seconds.append(time.perf_counter() - begun)
            assert min(seconds) < 0.2


@pytest.mark.changes_files
def test_collections_are_shown_by_what_is_kept_of_them(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        settled = look(client, "/collections")
        counts = re.findall(r"(documents|passages?|failed or skipped)\s*(\d+)", settled.text)
        passages = {each.name: each.chunks for each in base.knowledge.collections()}
        assert passages["letters"] == 1
        assert counts == [
            ("documents", "2"),
            ("passages", str(passages["handbook"])),
            ("failed or skipped", "0"),
            ("documents", "2"),
            ("passage", "1"),
            ("failed or skipped", "1"),
        ]
        assert "all-MiniLM-L6-v2" in settled.text
        assert str(base.root / "handbook") in settled.text
        assert "to read" not in settled.text
        base.write("handbook/new.md", "# New\n\nSomething new.")
        base.collection = "handbook"
        base.raw_files()
        assert "1 changed file or page to read" in look(client, "/collections").text


def test_scripts_in_documents_are_inert(stages: Stages) -> None:
    """In a title, a text, the name of a file, a tag, an address, metadata and a query."""
    stages.write(f"<img src=x onerror={CANARY}>.md", HOSTILE)
    tag = f"<script>{CANARY}</script>"
    stages.configure(f'collections:\n  handbook: {{files: [{{root: ./docs, tags: ["{tag}"]}}]}}\n')
    stages.run()
    (item,) = stages.knowledge.documents()
    with serving(stages.knowledge, requires_key=False) as client:
        for path in (
            "/?q=marmalade&all=1",
            f"/?q={quote(tag)}&all=1&tag={quote(tag)}&collection=handbook&explain=1",
            f"/?q=%22%3E{quote(tag)}&offset=10",
            f"/documents?text={quote('<img')}",
            "/collections",
            *(f"/documents/{item.document_id}?view={view}" for view in ("text", "plain", "passages")),
            f"/diff?first={item.document_id}&second={item.document_id}",
            f"/sign-in?next={quote('/?q=' + tag)}",
        ):
            page = look(client, path)
            assert set(page.links) & {"https://example.org/", "//example.org/d"} == set()
        document = look(client, f"/documents/{item.document_id}")
        outside = {link for link in document.links if "example.org" in link}
        assert outside == {"https://example.org/c", "https://example.org/f", "https://example.org/?a=1&b=2"}
        assert f"javascript:{CANARY}" in document.text  # as text
        assert document.with_id("main")[0] == "main"
        for path in (f"/documents?state={quote(tag)}", f"/documents?cursor={quote(tag)}", f"/{quote(tag)}"):
            refused = client.get(path, Accept="text/html")
            assert refused.status in {400, 404}
            assert Page(refused.content).acting() == []


def test_every_answer_confines_the_browser_and_errors_are_for_who_asks(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        answers: list[Answer] = []
        for path, status in (
            ("/", 200),
            ("/documents/999999", 404),
            ("/nothing", 404),
            ("/documents?limit=a&cursor=x", 400),
        ):
            answers.append(client.get(path, Accept="text/html,*/*"))
            assert (answers[-1].status, answers[-1].headers["content-type"]) == (status, "text/html; charset=utf-8")
            assert answers[-1].headers["cache-control"] == "no-store"
        for path in ("/nothing", "/documents/999999"):
            assert client.get(path).headers["content-type"] == "application/problem+json"
        answers.append(client.get("/v1/documents/999999", Accept="text/html"))
        assert answers[-1].headers["content-type"] == "application/problem+json"
        scripts = [held["src"] for tag, held in Page(answers[0].content).tags if tag == "script"]
        assert len(scripts) == 4
        for address in scripts:
            answers.append(client.get(address))
            assert "immutable" in answers[-1].headers["cache-control"]
        assert sum(len(each.content) for each in answers[-len(scripts) :]) <= 60_000
        for answer in answers:
            assert {name: answer.headers[name.lower()] for name in HEADERS} == HEADERS
    assert "unsafe" not in HEADERS["Content-Security-Policy"]


def test_odd_addresses_are_answered_and_break_nothing(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        for path, status in (
            ("/?q=%00", 400),
            ("/?q=gauge+%ed%a0%80", 200),
            ("/?q=" + "x" * 10_001, 200),
            ("/?q=a&tag=%00&type=..%2f..%2fetc", 400),
            ("/?q=a&offset=-1", 422),
            ("/?q=a&collection=%00", 404),
            ("/documents?text=%00%ed%a0%80", 200),
            ("/documents/-1", 404),
            ("/documents/99999999999999999999999", 404),
            ("/documents?cursor=%00", 400),
            ("/static/..%2frendering.py", 404),
            ("/static/%00", 404),
        ):
            answer = client.get(path, Accept="text/html")
            assert (answer.status, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")


def test_a_page_says_so_where_the_database_is_away(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        with base.connection() as connection:
            connection.execute("ALTER TABLE sourcebook.collection RENAME TO collection_away")
        try:
            away = client.get("/", Accept="text/html")
            assert (away.status, "Not available right now" in Page(away.content).text) == (503, True)
        finally:
            with base.connection() as connection:
                connection.execute("ALTER TABLE sourcebook.collection_away RENAME TO collection")

"""Search on the page over plain HTTP: order, choices, citations, suggestions and thumbs, by principals too."""

import re

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.admin.audit import audit_events
from sourcebook.model.access import Scope
from tests.integration.http_server import Client, serving
from tests.integration.inert_pages import Page
from tests.integration.page_forms import Browser, fields_of
from tests.integration.stages import Stages

CANARY = "<script>canary()</script>"
TEXTS = (
    "The first buoy marks the channel of the harbour, and the pilots see it from the pier at night.",
    "Behind the lighthouse another buoy marks the channel where the ferry turns towards the island.",
    "In winter the third buoy of the channel is taken ashore, since ice would carry it away.",
)
CONFIGURATION = f"""\
collections:
  handbook:
    files:
      - {{root: ./docs/open, tags: [manual, "{CANARY}"]}}
      - {{root: ./docs/hidden, tags: [confidential], allowed: [group:board]}}
  letters: {{files: [{{root: ./docs/letters}}]}}
"""
TITLES = ("Zebra buoy", "Anchor buoy", f"Mooring {CANARY} buoy")


def fill(stages: Stages) -> None:
    """Buoys that changed one after the other, a hidden one, and a letter."""
    for number, title in enumerate(TITLES):
        head = f"title: '{title}'\nauthor: Müller & Söhne\ndate: 202{number}-03-04"
        stages.write(f"open/{number}.md", f"---\n{head}\n---\n{TEXTS[number]}")
    stages.write("hidden/board.md", "---\nlang: de\n---\n# Boardroom buoy\n\nDie Boje des Vorstands ist eine buoy.")
    stages.write("letters/first.md", "# Letter\n\nThe buoy on the pier stands still.")
    stages.configure(CONFIGURATION)
    stages.run_all("handbook", "letters")
    for number in range(len(TITLES)):
        stages.rows(
            "UPDATE document SET updated_at = now() - %(days)s * interval '1 day' WHERE uri = %(uri)s RETURNING 1",
            days=10 * number,
            uri=stages.uri(f"open/{number}.md"),
        )


@pytest.fixture
def base(filled: Stages) -> Stages:
    return filled


def made_key(base: Stages, scope: Scope, *, principals: tuple[str, ...] | None = None) -> str:
    with base.connection() as connection:
        name = " ".join([scope, *(principals or ())])
        return create_key(connection, name, (scope,), actor="test", principals=principals)[1]


def titles(page: Page) -> list[str]:
    """Return the titles of the results, in their order."""
    return [line for line in dict.fromkeys(map(str.strip, page.text.splitlines())) if line in TITLES]


def typed(client: Client, path: str, **headers: str) -> Page:
    return Page(client.get(path, **{"HX-Request": "true", "Accept": "text/html", **headers}).content)


def test_results_come_in_the_order_that_is_asked_for(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        browser = Browser(client)
        zebra, anchor, mooring = TITLES
        asked = "/?q=buoy+channel&all=1&tag=manual"
        assert titles(browser.open(f"{asked}&sort=newest")) == [zebra, anchor, mooring]
        assert titles(browser.open(f"{asked}&sort=oldest")) == [mooring, anchor, zebra]
        page = browser.open(f"{asked}&sort=title")
        assert titles(page) == [anchor, mooring, zebra]
        assert "Order: by title, among the 3 passages that answer best." in page.text
        assert ("option", {"value": "title", "selected": ""}) in page.tags
        assert "Order:" not in browser.open(f"{asked}&sort={CANARY[:9]}").text


def test_sorted_results_go_on_on_the_next_page(stages: Stages) -> None:
    for number in range(12):
        stages.write(f"{number:02}.md", f"# Buoy {number:02}\n\nThe buoy {number:02} of the lagoon is painted green.")
    stages.configure()
    stages.run()
    with serving(stages.knowledge, requires_key=False) as client:
        browser = Browser(client)
        first = browser.open("/?q=buoy+lagoon&all=1&sort=title")
        (following,) = [link for link in first.links if "offset=10" in link and "explain" not in link]
        shown = [
            list(dict.fromkeys(re.findall(r"^\s*Buoy (\d\d)\s*$", page.text, re.MULTILINE)))
            for page in (first, browser.open(following))
        ]
        assert shown == [[f"{n:02}" for n in range(10)], ["10", "11"]]


def test_choices_are_those_of_the_base_and_facets_narrow(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        page = Browser(client).open("/")
        offered = {held["value"] for tag, held in page.tags if tag == "option" and "value" in held}
        assert {"manual", "confidential", CANARY, "text/markdown", "en", "de", "file"} <= offered
        found = Browser(client).open("/?q=buoy+channel&all=1")
        (year,) = [link for link in found.links if "year=2021" in link]
        narrowed = Browser(client).open(year)
        assert titles(narrowed) == ["Anchor buoy"]
        assert "/?q=buoy+channel&all=1" in narrowed.links  # takes the filter away
        assert Browser(client).get("/?q=buoy&year=soon").status == 400


def test_a_result_is_cited_as_text_markdown_bibtex_and_by_a_link(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        page = Browser(client).open("/?q=mooring+buoy+channel&all=1&tag=manual&sort=oldest")
        copied = [held["data-copy"] for tag, held in page.tags if "data-copy" in held][:4]
        text, markdown, bibtex, link = copied
        (item,) = [each for each in base.knowledge.documents("handbook") if each.title and "Mooring" in each.title]
        assert link.startswith(f"http://127.0.0.1:{client.port}/cited?document={item.document_id}&at=")
        assert text.startswith(f"“Mooring {CANARY} buoy”")
        assert markdown.startswith(r"[Mooring \<script\>canary()\</script\> buoy](http://127.0.0.1")
        assert r"author = {Müller \& Söhne}" in bibtex
        assert "year = {2022}" in bibtex
        assert rf"howpublished = {{\url{{{link}}}}}" in bibtex
        led = client.get(link.partition(str(client.port))[2], Accept="text/html")
        assert led.headers["location"].startswith(f"/documents/{item.document_id}?passage=")


def test_relevance_is_said_in_words(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        page = Browser(client).open("/?q=the+first+buoy+marks+the+channel&all=1")
        assert re.search(r"\b(very relevant|relevant|partly relevant)\b", page.text)


def test_titles_are_suggested_while_somebody_types(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        part = typed(client, "/?q=board")
        (item,) = base.knowledge.documents("handbook", text="board.md")
        assert f"/documents/{item.document_id}" in part.links
        assert part.acting() == []
        hostile = typed(client, "/?q=moor")
        assert hostile.acting() == []
        assert f"Mooring {CANARY} buoy" in hostile.text
        assert "/?q=the+first+buoy+marks" in typed(client, "/?q=the+first+buoy+mar").links
        for odd in ("/?q=%00%00", "/?q=%25%5f", "/?q=b"):
            typed(client, odd)


def test_principals_get_no_choice_title_or_thumb_of_what_they_may_not_see(base: Stages) -> None:
    with serving(base.knowledge, requires_key=True) as client:
        for principals, sees in ((("user:anna@example.org",), False), (("group:board",), True)):
            browser = Browser(client, made_key(base, "read", principals=principals))
            page = browser.open("/")
            assert ("confidential" in page.text, "manual" in page.text) == (sees, True)
            cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
            assert ("Boardroom" in typed(client, "/?q=board", Cookie=cookie).text) is sees
            assert fields_of(browser.open("/?q=buoy&all=1"), "/judgments") == []
            assert browser.send("/judgments", {"query": "buoy", "document": "1", "answers": "yes"}).status == 403


def test_thumbs_become_judgments_and_are_taken_back(base: Stages) -> None:
    with serving(base.knowledge, requires_key=True) as client:
        browser = Browser(client, made_key(base, "write"))
        page = browser.open("/?q=buoy+channel&all=1&tag=manual&sort=title")
        sent = fields_of(page, "/judgments")[0]
        assert (sent["query"], sent["next"].split("#")[0]) == (
            "buoy channel",
            "/?q=buoy+channel&tag=manual&all=1&sort=title",
        )
        answer = browser.send("/judgments", {**sent, "answers": "no"})
        assert (answer.status, answer.headers["location"]) == (303, sent["next"])
        (judged,) = base.knowledge.judgments()
        assert (judged.query, judged.grade, judged.uri) == ("buoy channel", 0, base.uri("open/1.md"))
        again = browser.open("/?q=buoy+channel&all=1&tag=manual&sort=title")
        pressed = [held["value"] for tag, held in again.tags if tag == "button" and held.get("aria-pressed") == "true"]
        assert pressed == [""]
        browser.send("/judgments", {**sent, "answers": "yes"})
        assert [each.grade for each in base.knowledge.judgments()] == [1]
        for _ in range(2):
            assert browser.send("/judgments", {**sent, "answers": ""}).status == 303
        assert base.knowledge.judgments() == []
        quiet = browser.send("/judgments", {**sent, "answers": "yes"}, headers={"HX-Request": "true"})
        assert (quiet.status, quiet.content) == (204, b"")
        with base.connection() as connection:
            assert {each.actor for each in audit_events(connection) if each.action == "judgment.record"} == {
                "key write"
            }


def test_a_thumb_of_elsewhere_or_of_nothing_changes_nothing(base: Stages) -> None:
    with serving(base.knowledge, requires_key=True) as client:
        browser = Browser(client, made_key(base, "write"))
        sent = fields_of(browser.open("/?q=buoy&all=1"), "/judgments")[0]
        for wrong, status in (
            ({"answers": "maybe"}, 400),
            ({"document": "x"}, 400),
            ({"document": "999999"}, 404),
            ({"document": "9" * 30}, 404),
            ({"query": " "}, 400),
            ({"query": "x" * 10_001}, 400),
        ):
            assert browser.send("/judgments", {**sent, "answers": "yes", **wrong}).status == status
        assert browser.send("/judgments", {**sent, "answers": "yes", "token": "a" * 43}).status == 403
        elsewhere = browser.send("/judgments", {**sent, "answers": "yes"}, headers={"Sec-Fetch-Site": "cross-site"})
        assert elsewhere.status == 403
        away = browser.send("/judgments", {**sent, "answers": "", "next": "//evil.example"})
        assert away.headers["location"] == "/"
        assert base.knowledge.judgments() == []
        reader = Browser(client, made_key(base, "read"))
        assert fields_of(reader.open("/?q=buoy&all=1"), "/judgments") == []
        assert reader.send("/judgments", {**sent, "answers": "yes"}).status == 403

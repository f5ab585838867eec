"""The page that asks: whole answers without scripts, events for scripts, citations, conversations, and no model."""

import json
import re
from collections.abc import Iterator
from http.client import HTTPConnection
from socket import SHUT_RDWR
from urllib.parse import urlencode

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.server.rate_limits import RateLimits
from tests.chat_server import Chat, ChatServer, Raw, Silence
from tests.integration.event_stream import Event, events
from tests.integration.http_server import serving
from tests.integration.inert_pages import Page
from tests.integration.page_forms import URLENCODED, Browser, fields_of
from tests.integration.stages import Stages
from tests.integration.test_membership_kinds import speak
from tests.waiting import wait_until

QUESTION = "How long do the batteries of the tide gauge last?"
ASKED = "/ask?" + urlencode({"q": QUESTION})
SENTENCE = "The batteries of the tide gauge last fourteen months"
CANARY = "canary()"


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    """A model of each test's own: a provider that has failed several times is left alone for a while."""
    with ChatServer() as chat:
        yield chat


@pytest.fixture
def base(stages: Stages, chat: ChatServer) -> Stages:
    """A collection that keeps conversations, one that keeps none, and one without a model."""
    stages.write("handbook/power.md", f"# Power\n\nEvery gauge has batteries.\n\n## Life\n\n{SENTENCE}.\n")
    stages.write("letters/first.md", f"# To the harbour master\n\n{SENTENCE}. Who greases the seal?\n")
    stages.write("plans/plan.md", "# Plans\n\nThe batteries of the lighthouse are to last a century.\n")
    model = f"base_url: '{chat.url}', model: reader, timeout: 20s"
    stages.configure(
        "collections:\n"
        f"  handbook: {{files: [{{root: ./docs/handbook, tags: [manual]}}], answering: {{{model}}}}}\n"
        f"  letters: {{files: [{{root: ./docs/letters}}], answering: {{{model}, sessions: 7d}}}}\n"
        "  plans: {files: [{root: ./docs/plans}]}\n"
    )
    stages.run_all("handbook", "letters", "plans")
    return stages


def key(stages: Stages, name: str, *, only: list[str] | None = None) -> str:
    with stages.connection() as connection:
        return create_key(connection, name, ("read",), only, actor="test")[1]


def streamed(browser: Browser, fields: dict[str, str]) -> list[Event]:
    """Send a question as the page's script does; return its events."""
    connection = HTTPConnection("127.0.0.1", browser.client.port, timeout=30)
    cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    headers = {
        "Content-Type": URLENCODED,
        "Accept": "text/event-stream, text/html",
        "HX-Request": "true",
        "Cookie": cookie,
    }
    sent = urlencode({"token": browser.cookies["sourcebook_form"], **fields})
    try:
        connection.request("POST", "/ask/events", sent, headers)
        answer = connection.getresponse()
        assert (answer.status, answer.getheader("cache-control")) == (200, "no-store")
        return list(events(answer))
    finally:
        connection.close()


def whole(browser: Browser, path: str) -> Page:
    """Open the answer to which a browser without scripts is led."""
    refresh = next(held for tag, held in browser.open(path).tags if held.get("http-equiv") == "refresh")
    return browser.open(refresh["content"].partition("url=")[2])


def test_without_scripts_an_answer_comes_whole_and_its_citation_opens_the_passage(
    base: Stages, chat: ChatServer
) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        browser = Browser(client)
        assert "Ask the documents" in browser.open("/ask").text
        browser.open(ASKED)
        assert chat.asked == []  # the page alone asks no model: a preview of a link costs nothing
        page = whole(browser, f"{ASKED}&collection=handbook")
        assert re.search(rf"{SENTENCE} \[1\]\.\s+Sources\s+\[1\] Power Life · handbook\s*{SENTENCE}", page.text)
        cited = next(each for each in page.links if each.startswith("/cited"))
        led = browser.get(cited)
        assert (
            led.status,
            re.fullmatch(r"/documents/\d+\?passage=\d+#passage-\d+", led.headers["location"]) is None,
        ) == (303, False)
        document = browser.open(led.headers["location"].partition("#")[0])
        assert "found" in document.with_id(led.headers["location"].partition("#")[2])[1]["class"].split()
        assert any(each.startswith("/?q=How+long") for each in page.links)
        assert f"{ASKED}&collection=handbook" in page.links  # to be shared

        (carried,) = fields_of(page, "/ask")
        assert "session" not in carried or not carried["session"]
        chat.script(Chat("When do the batteries of the tide gauge end?"), Chat(f"{SENTENCE} [1]."))
        further = browser.send("/ask", {**carried, "collection": "handbook", "q": "And when do they end?"})
        assert (further.status, Page(further.content).text.count(SENTENCE)) == (200, 3)  # two answers and a quote
        assert QUESTION in chat.asked[0].text

        chat.asked.clear()
        linked = client.request(
            "GET", f"{ASKED}&whole=1", headers={"Accept": "text/html", "Sec-Fetch-Site": "cross-site"}
        )
        assert (linked.status, chat.asked) == (200, [])
        assert ("input", QUESTION) in [(tag, held.get("value")) for tag, held in Page(linked.content).tags]


def test_a_stream_has_checked_sentences_and_the_whole_turn(base: Stages, chat: ChatServer) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        browser = Browser(client)
        browser.open("/ask")
        chat.script(Chat(f'**Yes** <script>{CANARY}</script>. {SENTENCE} [1: "{SENTENCE}"]. The moon is cheese [7].'))
        told = streamed(browser, {"q": QUESTION, "collection": "handbook"})
        assert next(each.name for each in told) == "status"
        assert [each.name for each in told][-2:] == ["text", "turn"]
        turn = Page(told[-1].data["html"].encode())
        assert turn.acting() == []
        assert "strong" in {tag for tag, _ in turn.tags}
        assert "were taken out: 1" in turn.text
        assert json.loads(told[-1].data["history"])[0]["question"] == QUESTION
        chat.script(Chat(f"{SENTENCE} [1]. And th", ends=False, breaks=True))
        assert [each.name for each in streamed(browser, {"q": QUESTION, "collection": "handbook"})][-1] == "problem"
        chat.script(Chat("NO_ANSWER"))
        assert "do not answer this" in whole(browser, f"{ASKED}&collection=handbook").text
        assert (
            "Nothing relevant was found"
            in whole(browser, "/ask?q=quantum+chromodynamics+marmalade&collection=handbook").text
        )
        assert "have different settings" in Page(browser.get(f"{ASKED}&whole=1").content).text
        for raw in (Raw(401, b'{"error": {"message": "no key sk-secret-1"}}'), Raw(200, b'{"choices": [{"del')):
            chat.script(raw)
            assert streamed(browser, {"q": QUESTION, "collection": "handbook"})[-1].name == "problem"
            page = browser.get(f"{ASKED}&collection=handbook&whole=1")
            assert (page.status, b"sk-secret" in page.content, b"refuses or fails" in page.content) == (
                503,
                False,
                True,
            )


def test_whoever_stops_ends_the_request_to_the_model(base: Stages, chat: ChatServer) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        browser = Browser(client)
        browser.open("/ask")
        chat.script(Silence(f"{SENTENCE} [1]. And so"))
        connection = HTTPConnection("127.0.0.1", client.port, timeout=30)
        sent = urlencode({"token": browser.cookies["sourcebook_form"], "q": QUESTION, "collection": "handbook"})
        cookie = f"sourcebook_form={browser.cookies['sourcebook_form']}"
        connection.request("POST", "/ask/events", sent, {"Content-Type": URLENCODED, "Cookie": cookie})
        held = connection.sock
        answer = connection.getresponse()
        told = events(answer)
        assert [next(told).name, next(told).name] == ["status", "text"]
        wait_until(lambda: chat.asked)
        held.shutdown(SHUT_RDWR)
        answer.close()
        connection.close()
        assert chat.left.wait(15)  # before the model's timeout


def test_without_a_model_the_best_passages_are_shown(base: Stages, chat: ChatServer) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        browser = Browser(client)
        page = browser.open("/ask?q=How+long+is+the+lighthouse+to+last%3F&collection=plans")
        assert "No language model answers from plans: these are the passages" in page.text
        assert "to last a century" in page.text
        told = browser.send("/ask/events", {"q": "lighthouse", "collection": "plans"}, headers={"HX-Request": "true"})
        assert (told.status, told.headers["hx-redirect"]) == (204, "/ask?q=lighthouse&collection=plans")
        assert chat.asked == []
        nothing = browser.open("/ask?q=lighthouse&collection=plans&until=2001-01-01")
        assert "century" not in nothing.text
        assert browser.get("/ask?q=lighthouse&collection=plans&until=yesterday").status == 400


def test_a_citation_of_a_recording_plays_it_from_its_second(stages: Stages, chat: ChatServer) -> None:
    stages.write("handbook/first.md", "# Seals\n\nThe seal is greased.")
    stages.configure(
        "collections:\n  handbook: {files: [{root: ./docs/handbook}], "
        f"answering: {{base_url: '{chat.url}', model: reader, timeout: 20s}}}}\n"
    )
    stages.collection = "handbook"
    stages.run()
    speak(stages, stages.root / "handbook" / "talk.flac", "The talk", f"{SENTENCE}.", begin=1.5)
    stages.run()
    with serving(stages.knowledge, requires_key=False) as client:
        browser = Browser(client)
        page = whole(browser, ASKED)
        assert "The talk" in page.text
        cited = next(each for each in page.links if each.startswith("/cited"))
        document = browser.open(browser.get(cited).headers["location"].partition("#")[0])
        (player,) = [held for tag, held in document.tags if tag == "audio"]
        assert player["src"].endswith("/original?inline=true#t=1")
        heard = browser.get(player["src"].partition("#")[0], Range="bytes=0-3")
        assert (heard.status, heard.content) == (206, b"fLaC")
        assert "media-src 'self'" in browser.get("/ask").headers["content-security-policy"]


def test_the_scope_holds_and_hidden_collections_do_not_exist(base: Stages, chat: ChatServer) -> None:
    with serving(base.knowledge, requires_key=True) as client:
        assert client.get("/ask", Accept="text/html").status == 303
        browser = Browser(client, key(base, "reader", only=["handbook"]))
        assert SENTENCE in whole(browser, ASKED).text
        assert "harbour" not in "".join(each.text for each in chat.asked)
        for path in (f"{ASKED}&collection=letters&whole=1", f"{ASKED}&collection=none&whole=1", "/ask?session=none"):
            assert browser.get(path).status == 404
        number = str(base.knowledge.documents("letters")[0].document_id)
        assert browser.get(f"/cited?document={number}&at=3").status == 404
        assert "Nothing relevant" in whole(browser, f"{ASKED}&tag=other").text
        assert SENTENCE in whole(browser, f"{ASKED}&tag=manual&since=2020-01-01").text
        assert browser.send("/ask", {"q": QUESTION}, token="x" * 43).status == 403
        assert browser.send("/ask/events", {"q": QUESTION}, headers={"Sec-Fetch-Site": "cross-site"}).status == 403
        for history in (
            "{",
            "[1]",
            '[{"question": 1}]',
            '[{"question": "a", "answer": 1, "reason": null, "sources": []}]',
        ):
            assert browser.send("/ask", {"q": QUESTION, "history": history}).status == 400


def test_questions_count_as_requests_of_the_key(base: Stages, chat: ChatServer) -> None:
    with serving(base.knowledge, requires_key=True, limits=RateLimits(4)) as client:
        browser = Browser(client, key(base, "reader", only=["handbook"]))
        asked = {"q": QUESTION, "collection": "handbook"}
        answers = [browser.send("/ask/events", asked, headers={"HX-Request": "true"}) for _ in range(6)]
        assert [answers[0].status, answers[-1].status] == [200, 429]
        assert b'class="notice wrong"' in answers[-1].content  # the sentence that the page's script shows
        assert len(chat.asked) == sum(each.status == 200 for each in answers) <= 4


def test_conversations_are_listed_continued_exported_and_deleted(base: Stages, chat: ChatServer) -> None:
    with serving(base.knowledge, requires_key=True) as client:
        browser, other = (Browser(client, key(base, name)) for name in ("anna", "otto"))
        assert "There is none yet" in browser.open("/ask/conversations").text
        page = whole(browser, f"{ASKED}&collection=letters")
        (carried,) = fields_of(page, "/ask")
        name = carried["session"]
        chat.script(Chat("Who greases the seal of the gauge?"), Chat("NO_ANSWER"))
        assert browser.send("/ask", {"session": name, "collection": "letters", "q": "Who greases it?"}).status == 200
        listed = browser.open("/ask/conversations")
        assert re.search(r"gauge last\?\s+2 questions", listed.text)
        shown = browser.open(f"/ask?session={name}")
        assert shown.text.count(QUESTION) == 1
        assert "do not answer this" in shown.text
        cited = next(each for each in shown.links if each.startswith("/cited"))
        assert "passage=" in browser.get(cited).headers["location"]
        assert (other.get(f"/ask?session={name}").status, other.get(f"/ask/conversations/{name}/export").status) == (
            404,
            404,
        )
        assert "gauge" not in other.open("/ask/conversations").text
        written = browser.get(f"/ask/conversations/{name}/export")
        assert (written.headers["content-type"], written.content.count(b"## ")) == ("text/markdown; charset=utf-8", 2)
        assert len(browser.get(f"/ask/conversations/{name}/export?form=json").json["turns"]) == 2
        assert other.send(f"/ask/conversations/{name}/delete").status == 303
        assert len(base.knowledge.ask_sessions(owner="key 1")) == 1
        assert browser.send(f"/ask/conversations/{name}/delete").status == 303
        assert base.knowledge.ask_sessions(owner="key 1") == []
        assert browser.get(f"/ask?session={name}").status == 404

"""Two generations of a collection, compared on the page by what they find."""

import re
from urllib.parse import urlencode

from sourcebook.admin.access_keys import create_key
from tests.chat_server import Chat, ChatServer, Raw
from tests.integration.built_generations import build_first, configure
from tests.integration.http_server import serving
from tests.integration.inert_pages import Page
from tests.integration.page_forms import Browser
from tests.integration.stages import Stages

HOSTILE = "<script>canary()</script>"


def test_two_generations_stand_side_by_side_with_the_places_of_the_other(stages: Stages) -> None:
    stages.collection = "handbook"
    build_first(stages)
    path = "/collections/handbook/compare"
    with serving(stages.knowledge, requires_key=False) as client:
        browser = Browser(client)
        assert "There is one generation." in browser.open(path).text
        configure(stages, tokens=128, activate="manual")
        stages.run()
        left, right = [state.id for state in stages.knowledge.generations("handbook")]
        assert path in browser.open("/collections/handbook").links
        page = browser.open(f"{path}?q=When+is+the+tide+read%3F&first={left}&second={right}")
        sides = [held["aria-label"] for tag, held in page.tags if tag == "section" and "aria-label" in held]
        assert sides == [f"Generation {left}", f"Generation {right}"]
        assert re.search(r"64 tokens.*128 tokens", page.text, re.DOTALL)
        assert page.text.count("on the other side at ") == 6  # three documents, once on each side
        same = browser.open(f"{path}?q=tide&first={left}&second={left}")
        assert "not among them" not in same.text
        browser.open(f"{path}?q={HOSTILE}")
        for wrong in ("first=999999", "second=0&first=-1", "first=x"):
            assert browser.get(f"{path}?q=tide&{wrong}").status in {400, 422}
        assert Page(browser.get(f"{path}?q={'x+' * 5000}").content).acting() == []
    stages.knowledge.create_collection("letters", {})
    with stages.connection() as connection:
        other = create_key(connection, "other", ("read",), ["letters"], actor="test")[1]
    with serving(stages.knowledge, requires_key=True) as client:
        assert Browser(client, other).get(path).status == 404


def test_the_answers_of_two_generations_stand_side_by_side_with_citations_that_hold(stages: Stages) -> None:
    """Each from what its generation finds; asked for by a tick alone, and not by a link from elsewhere."""
    stages.collection = "handbook"
    build_first(stages)
    path = "/collections/handbook/compare"
    question = "When is the tide of station 3 read?"
    with ChatServer() as chat, serving(stages.knowledge, requires_key=False) as client:
        model = f"    answering: {{base_url: '{chat.url}', model: reader, timeout: 20s}}\n"
        configure(stages, tokens=128, activate="manual", more=model)
        stages.run()
        left, right = [state.id for state in stages.knowledge.generations("handbook")]
        asked = f"{path}?{urlencode({'q': question, 'first': left, 'second': right})}"
        browser = Browser(client)
        assert "With the model's answers" in browser.open(asked).text
        browser.get(f"{asked}&answers=1", **{"Sec-Fetch-Site": "cross-site"})
        assert chat.asked == []
        said = "The tide of station 3 is read at 3 o'clock [1]."
        chat.script(Chat(said), Chat(f"{said} The moon is made of cheese [9]."))
        page = browser.open(f"{asked}&answers=1")
        assert page.text.count("station 3 is read at 3 o'clock [1]") == 2
        assert "Citations that do not hold, and were taken out: 1." in page.text
        assert len([each for each in page.links if each.startswith("/cited?")]) >= 4
        of_first, of_second = (str(each.body) for each in chat.asked)
        assert len(of_second) > len(of_first) + 200  # its passages are twice as long
        chat.script(Raw(500))
        page = browser.open(f"{asked}&answers=1")
        assert [held["role"] for _, held in page.tags if held.get("class") == "notice wrong"] == ["alert"] * 2

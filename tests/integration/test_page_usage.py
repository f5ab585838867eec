"""Usage, and collections over time, on the page."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.database.usage_log import store_uses
from sourcebook.model.usage import LOCAL, TRANSCRIBE, Use
from tests.integration.http_server import Client, serving
from tests.integration.page_forms import Browser
from tests.integration.stages import Stages

TODAY = datetime.now(UTC).date()


def use(stages: Stages, days_ago: int, collection: str, model: str, texts: int, provider: str = "local") -> None:
    stages.rows(
        "INSERT INTO usage (day, collection, provider, model, operation, texts, cached, tokens, seconds) "
        "VALUES (%(day)s, %(name)s, %(provider)s, %(model)s, 'embed_passages', %(texts)s, 1, 1000, 75) RETURNING 1",
        day=TODAY - timedelta(days=days_ago),
        name=collection,
        provider=provider,
        model=model,
        texts=texts,
    )


@pytest.fixture
def base(stages: Stages) -> Stages:
    """Two collections, and the usage of a purged one."""
    names = ("handbook", "personnel")
    stages.configure("collections:\n" + "".join(f"  {name}: {{files: [{{root: ./docs/{name}}}]}}\n" for name in names))
    use(stages, 0, "handbook", "<script>canary()</script>", 1_200)
    use(stages, 3, "handbook", "text-embedding-3-small", 400, "openai")
    use(stages, 40, "handbook", "old-model", 77)
    use(stages, 1, "personnel", "secret-model", 5)
    use(stages, 1, "purged", "purged-model", 6)
    return stages


@pytest.fixture
def open_server(base: Stages) -> Iterator[Client]:
    with serving(base.knowledge, requires_key=False) as client:
        yield client


def test_usage_is_shown_by_day_and_model_with_its_cost(open_server: Client, base: Stages) -> None:
    browser = Browser(open_server)
    page = browser.open("/usage")
    assert "1,611" in page.text  # texts of the last 30 days
    assert re.search(
        r"text-embedding-3-small\s*openai\s*embed passages\s*400\s*1\s*1,000\s*1 min 15 s\s*under 0\.0001", page.text
    )
    assert "old-model" not in page.text
    assert f"{TODAY - timedelta(days=3)}" in page.text
    assert [held["aria-label"].partition(",")[0] for tag, held in page.tags if tag == "svg"] == [
        "Texts a day",
        "Cost a day",
    ]
    bars = [tag for tag, _ in page.tags if tag == "rect"]
    assert len(bars) == 4  # three days of texts, one with a cost
    assert "old-model" in browser.open("/usage?days=90").text
    narrowed = browser.open("/usage?collection=personnel&days=7")
    assert ("secret-model" in narrowed.text, "canary()" in narrowed.text) == (True, False)
    assert "No model was used" in browser.open("/usage?collection=personnel&days=1").text
    for path, status in (("/usage?days=0", 422), ("/usage?days=99999", 422), ("/usage?collection=nothing", 404)):
        assert browser.get(path).status == status
    with base.connection() as connection:
        store_uses(connection, [Use("handbook", LOCAL, "whisper", TRANSCRIBE, 2, 1, 0, 40.0, 120.0, 75.0)])
    assert re.search(
        r"whisper\s*local\s*transcribe\s*2\s*1\s*0\s*40 s\s*0\s*2 min\s*1 min 15 s",
        re.sub("<[^>]+>", " ", browser.open("/usage").text),
    )


def test_a_key_sees_the_usage_of_its_collections(base: Stages) -> None:
    with base.connection() as connection:
        key = create_key(connection, "reader", ("read",), ["handbook"], actor="test")[1]
    with serving(base.knowledge, requires_key=True) as client:
        browser = Browser(client, key)
        page = browser.open("/usage")
        assert "text-embedding-3-small" in page.text
        for hidden in ("secret-model", "purged-model", "personnel"):
            assert hidden not in page.text
        for name in ("personnel", "purged"):
            assert browser.get(f"/usage?collection={name}").status == 404
            assert browser.get(f"/collections/{name}").status == 404
        base.rows("DELETE FROM collection WHERE name = 'handbook' RETURNING 1")
        assert "No model was used" in browser.open("/usage").text


def test_a_collection_is_shown_over_time(stages: Stages) -> None:
    for name in ("a", "b", "c", "d"):
        stages.write(f"{name}.md", f"# {name}\n\nText of {name}.")
    stages.configure()
    stages.run()
    ago = {"a": (100, None), "b": (10, None), "c": (10, 5)}
    for name, (came, went) in ago.items():
        stages.rows(
            "UPDATE document SET created_at = now() - %(came)s * interval '1 day', "
            "removed_at = now() - %(went)s * interval '1 day' WHERE uri = %(uri)s RETURNING 1",
            came=came,
            went=went,
            uri=stages.uri(f"{name}.md"),
        )
    with serving(stages.knowledge, requires_key=False) as client:
        browser = Browser(client)
        assert "/collections/handbook" in browser.open("/collections").links
        page = browser.open("/collections/handbook")
        days = {n: str(TODAY - timedelta(days=n)) for n in (89, 11, 10, 6, 5, 0)}
        documents, passages = page.text.split("Passages", 1)
        for text, expected in (
            (documents, {89: 1, 11: 1, 10: 3, 6: 3, 5: 2, 0: 3}),
            (passages, {89: 1, 11: 1, 10: 2, 6: 2, 5: 2, 0: 3}),
        ):
            shown = dict(re.findall(r"(\d{4}-\d\d-\d\d): (\d+)", text))
            assert {n: int(shown[day]) for n, day in days.items()} == expected
        assert browser.get("/collections/nothing").status == 404
        assert browser.get("/collections/%00").status == 404

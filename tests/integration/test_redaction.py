"""Redaction on the way out: a canary of each category leaves a collection nowhere, and what remains fits together."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.admin.redacted_documents import collection_redactions
from sourcebook.client import RemoteKnowledgeBase
from sourcebook.errors import AccessError, ConfigurationError, TransferError, WithheldError
from sourcebook.model.access import Grant
from sourcebook.redaction.categories import CATEGORIES
from sourcebook.server.mcp.arguments import FetchArguments
from sourcebook.server.mcp.tools.fetch import fetch_document
from sourcebook.transfer.export import export_collections
from tests.integration.http_server import serving
from tests.integration.stages import Stages
from tests.unit.redaction.test_rules import CANARIES

OWN = "E-123456"


@pytest.fixture
def library(filled: Stages) -> Stages:
    return filled


def fill(stages: Stages) -> None:
    """A collection that redacts."""
    (stages.root.parent / "patterns.yaml").write_text("EMPLOYEE: 'E-[0-9]{6}'\n")
    _write_documents(stages)
    _configure(stages)
    stages.run()


def _write_documents(stages: Stages) -> None:
    for number, (_, text, value) in enumerate(CANARIES):
        body = f"# Lighthouse {number}\n\nThe lamp needs oil.\n\n```\n{text}\n```\n\nOnce more: {text}\n"
        stages.write(
            f"canary-{number}.md", body if "\n" in value else f"{body}\n## Keeper {value}\n\nThe keeper sleeps.\n"
        )
    stages.write("own.md", f"# Staff\n\nThe keeper of the lamp is {OWN}.")
    numbers = "\n\n".join(f"The lamp {number} burns oil from Norway and needs a new wick." for number in range(200))
    stages.write(
        "long.md", f"# Lamps of ana@example.org\n\n{numbers}\n\nPay with 4111 1111 1111 1111 for ana@example.org"
    )


def _configure(stages: Stages) -> None:
    files = f"files: [{{root: ./{stages.root.name}}}]\n    chunking: {{tokens: 32}}"
    redaction = f"redaction: {{categories: [{', '.join(CATEGORIES)}], patterns: ./patterns.yaml}}"
    stages.configure(f"collections:\n  {stages.collection}:\n    {files}\n    {redaction}\n")


def _values() -> list[str]:
    """Return every canary, as it stands in JSON, too."""
    values = [OWN, *(value for _, _, value in CANARIES)]
    return [*values, *(json.dumps(value, ensure_ascii=False)[1:-1] for value in values)]


def _leaks(text: str) -> list[str]:
    return [value for value in _values() if value in text]


def test_no_canary_is_in_any_result(library: Stages) -> None:
    """Texts, snippets, headings, sections, neighbours and notes of every passage of the collection."""
    for query in ("lamp oil", "keeper sleeps", "Lighthouse", "Norway wick"):
        for options in ({}, {"neighbours": 2}, {"group_by": "document"}, {"explain": True, "facets": True}):
            found = library.knowledge.search(query, limit=1000, mode="keyword", min_relevance=0.0, **options)
            assert found
            assert _leaks(json.dumps(found.as_dict(), default=str, ensure_ascii=False)) == []


def test_unredacted_results_are_the_ones_that_are_stored(library: Stages) -> None:
    found = library.knowledge.search(
        "keeper of the lamp", mode="keyword", limit=1000, min_relevance=0.0, unredacted=True
    )
    assert any(OWN in result.text for result in found)
    assert all(not result.redactions for result in found)


def test_spans_snippets_and_highlights_are_those_of_the_redacted_text(library: Stages) -> None:
    found = library.knowledge.search("lamp oil keeper", mode="keyword", limit=1000, min_relevance=0.0)
    redacted = [result for result in found if result.redactions]
    assert redacted
    documents = {result.document_id for result in found}
    shown = {document: library.knowledge.show(document).text for document in documents}
    for result in found:
        assert result.text[result.snippet_start :].startswith(result.snippet)
        assert all(result.text[start:end].strip() for start, end in result.highlights)
        for span in result.redactions:
            assert result.text[span.start : span.end].strip("[]_0123456789").isupper()
        assert result.text.endswith(shown[result.document_id][result.start_char : result.end_char])


def test_the_same_value_has_one_placeholder_in_a_document(library: Stages) -> None:
    shown = library.knowledge.show(library.uri("long.md"))
    assert shown.item.title == "Lamps of [EMAIL_1]"
    assert shown.text.endswith("Pay with [CARD_1] for [EMAIL_1]")
    assert shown.passages[-1].text.endswith("Pay with [CARD_1] for [EMAIL_1]")
    assert {item.title for item in library.knowledge.documents() if item.uri == library.uri("long.md")} == {
        "Lamps of [EMAIL_1]"
    }


def test_no_canary_is_in_any_document(library: Stages) -> None:
    for item in library.knowledge.documents():
        assert item.document_id is not None
        shown = library.knowledge.show(item.document_id)
        assert _leaks(json.dumps(shown.as_dict(), default=str, ensure_ascii=False)) == []
        assert all(
            passage.text.endswith(shown.text[passage.start_char : passage.end_char]) for passage in shown.passages
        )
    assert OWN in library.knowledge.show(library.uri("own.md"), unredacted=True).text


def test_no_canary_is_in_an_export(library: Stages, tmp_path: Path) -> None:
    target = tmp_path / "export"
    with pytest.raises(TransferError, match="handbook redacts what leaves it, and parquet would hold it whole"):
        export_collections(library.database, target, [library.collection])
    export_collections(library.database, target, [library.collection], ["markdown"])
    written = [path for path in target.rglob("*") if path.is_file()]
    assert len(written) > len(CANARIES)
    for path in written:
        assert _leaks(path.read_text(encoding="utf-8")) == [], path
    export_collections(library.database, tmp_path / "whole", [library.collection], unredacted=True)
    assert any(OWN in path.read_text(encoding="utf-8") for path in (tmp_path / "whole").rglob("*.md"))


def test_a_collection_that_takes_documents_redacts_as_theirs_does(library: Stages) -> None:
    files = f"files: [{{root: ./{library.root.name}}}]"
    redaction = "redaction: {patterns: ./patterns.yaml}"
    taking = f"everyone:\n    from: {{collection: {library.collection}}}"
    library.configure(f"collections:\n  {library.collection}:\n    {files}\n    {redaction}\n  {taking}\n")
    library.run()
    with library.connection() as connection:
        names = [library.collection, "everyone"]
        assert set(collection_redactions(connection, names)) == set(names)


@pytest.mark.changes_files
def test_without_its_file_of_patterns_nothing_is_shown(library: Stages) -> None:
    """It fails closed."""
    (library.root.parent / "patterns.yaml").unlink()
    with pytest.raises(ConfigurationError, match="patterns of redaction cannot be read"):
        library.knowledge.search("lamp", mode="keyword")
    with pytest.raises(ConfigurationError, match="patterns of redaction cannot be read"):
        library.knowledge.show(library.uri("own.md"))


def test_no_canary_leaves_the_server_and_originals_stay_inside(library: Stages) -> None:
    """Lists, documents, passages, exports and searches over HTTP; originals and pages are refused."""
    with serving(library.knowledge, requires_key=False) as client:
        listed = client.get("/v1/documents?limit=100")
        numbers = [each["document_id"] for each in listed.json["documents"]]
        assert len(numbers) > len(CANARIES)
        answers = [listed, client.post("/v1/documents/export", {"documents": numbers[:1]})]
        for number in numbers:
            answers += [client.get(f"/v1/documents/{number}{part}") for part in ("", "/chunks", "/export")]
            for part in ("/original", "/pages/1"):
                refused = client.get(f"/v1/documents/{number}{part}")
                assert (refused.status, "redacts what leaves it" in refused.json["detail"]) == (403, True)
        answers += [client.post("/v1/search", {"query": "oil lamp keeper", "limit": 50, "min_relevance": 0})]
        assert {each.status for each in answers} == {200}
        for answer in answers:
            assert _leaks(answer.content.decode("utf-8", "replace")) == []


def test_redaction_is_lifted_by_the_scope_of_a_key_alone(library: Stages) -> None:
    """Not by `admin`, which cannot give the scope away either; asked for, it opens each way out, originals included."""
    (number,) = [item.document_id for item in library.knowledge.documents() if item.uri == library.uri("own.md")]
    assert number is not None
    query = {"query": "keeper of the lamp", "mode": "keyword", "limit": 50, "min_relevance": 0, "unredacted": True}
    posts: list[tuple[str, dict[str, object]]] = [
        ("search", query),
        ("similar", {"document": number, "unredacted": True}),
        ("context", {"question": "keeper of the lamp", "min_relevance": 0, "unredacted": True}),
        ("documents/export", {"documents": [number], "unredacted": True}),
    ]
    gets = [f"documents/{number}{part}?unredacted=true" for part in ("", "/chunks", "/export", "/original")]
    gets.append(f"documents/lookup?id={number}&unredacted=true")
    with library.connection() as connection:
        _, lifting = create_key(connection, "lifting", ("unredacted",), actor="test")
        _, admin = create_key(connection, "admin", ("admin",), actor="test")
    with serving(library.knowledge, requires_key=True) as client:
        for key, status in ((admin, 403), (lifting, 200)):
            caller = replace(client, key=key)
            answers = [caller.post(f"/v1/{path}", body) for path, body in posts]
            answers += [caller.get(f"/v1/{path}") for path in gets]
            assert [answer.status for answer in answers] == [status] * len(answers)
            whole = [answer for answer in answers if OWN.encode() in answer.content]
            assert len(whole) == (0 if status == 403 else len(answers) - 2)  # a ZIP packs, and no other is similar
        caller = replace(client, key=admin)
        assert caller.post("/v1/keys", {"name": "more", "scopes": ["read", "unredacted"]}).status == 403
        asked = FetchArguments(document=number, unredacted=True)
        assert OWN in fetch_document(library.knowledge, Grant("agent", ("unredacted",)), asked).text
        with pytest.raises(WithheldError, match="needs the scope unredacted"):
            fetch_document(library.knowledge, Grant("agent", ("admin",)), asked)
        shown = replace(client, key=lifting).get(f"/v1/documents/{number}")
        assert OWN.encode() not in shown.content
        with RemoteKnowledgeBase(f"http://127.0.0.1:{client.port}", lifting) as remote:
            assert OWN in remote.show(number, unredacted=True).text
            with remote.original(number, unredacted=True) as original:
                assert OWN.encode() in original.stream.read()
            with pytest.raises(AccessError, match="without unredacted"):
                remote.original(number)

"""Redaction at ingestion: a canary of each category is stored nowhere, and changed rules make the documents anew."""

import json
from typing import Any

import pytest

from sourcebook.admin.planning.plan import make_plans
from sourcebook.contract.plans import Reason
from sourcebook.errors import ConfigurationError
from sourcebook.model.transcript import Recording, Segment, Window
from sourcebook.redaction.categories import CATEGORIES
from sourcebook.redaction.redactor import Redactor
from sourcebook.stages.transcripts.rows import TranscriptLedger
from tests.integration.stages import Stages, html
from tests.unit.redaction.test_rules import CANARIES

OWN = "E-123456"
FRONT = "---\npassword: hunter22\ncard: 4111111111111111\nkeeper: ana@example.org\n---\n"


def _configure(stages: Stages, redaction: str) -> None:
    stages.configure(
        f"collections:\n  {stages.collection}:\n    files: [{{root: ./{stages.root.name}}}]\n"
        f"    chunking: {{tokens: 32}}\n    redaction: {redaction}\n"
    )


@pytest.fixture
def library(stages: Stages) -> Stages:
    """A collection that stores placeholders for every category and one label of its own."""
    (stages.root.parent / "patterns.yaml").write_text("EMPLOYEE: 'E-[0-9]{6}'\n")
    for number, (_, text, value) in enumerate(CANARIES):
        heading = "" if "\n" in value else f"## Keeper {value}\n\nThe keeper sleeps.\n\n"
        stages.write(f"canary-{number}.md", f"# Lighthouse {number}\n\n{heading}```\n{text}\n```\n\nAgain: {text}\n")
    stages.write("own.md", f"{FRONT}# Staff {OWN}\n\nThe keeper is {OWN}, write to ana@example.org.")
    stages.write("ben@example.org.txt", "The lamp needs oil.")
    _configure(stages, f"{{at: ingest, categories: [{', '.join(CATEGORIES)}], patterns: ./patterns.yaml}}")
    stages.run()
    return stages


def _leaks(stages: Stages, *more: str) -> list[tuple[str, str]]:
    """Return (table, value) of every canary in every text of the database, URIs of documents aside."""
    values = [*more, OWN, "hunter22", *(value for _, _, value in CANARIES)]
    values += [json.dumps(value, ensure_ascii=False)[1:-1] for value in values]
    found = []
    tables = stages.rows("SELECT relname AS name FROM pg_class WHERE relnamespace = 'sourcebook'::regnamespace "
                         "AND relkind IN ('r', 'p') ORDER BY 1")  # fmt: skip
    with stages.connection() as connection:
        for table in tables:
            rows = connection.execute(f"SELECT held::text FROM sourcebook.{table['name']} held").fetchall()
            text = "\n".join(row for (row,) in rows)
            found += [(table["name"], value) for value in values if value in text]
    return sorted(set(found))


def test_no_canary_is_stored_in_any_table(library: Stages) -> None:
    assert _leaks(library, "4111111111111111", "ana@example.org") == []
    stored = library.knowledge.show(library.uri("own.md"), unredacted=True)
    assert stored.text.endswith("# Staff [EMPLOYEE_1]\n\nThe keeper is [EMPLOYEE_1], write to [EMAIL_1].")
    assert "password: [PASSWORD_1]\ncard: [CARD_1]\nkeeper: [EMAIL_1]" in stored.text
    values = {name: stored.metadata[name] for name in ("password", "card", "keeper")}
    assert values == {"password": "[PASSWORD_1]", "card": "[CARD_1]", "keeper": "[EMAIL_1]"}
    assert stored.item.title == "Staff [EMPLOYEE_1]"
    assert {part.heading_path[-1] for part in stored.passages} == {"Staff [EMPLOYEE_1]"}
    assert library.item("ben@example.org.txt")["title"] == "[EMAIL_1]"
    given = {"contact": "cid@example.org", "password": "tr0ub4dor&3"}
    library.knowledge.change_document(library.uri("own.md"), metadata=given)
    assert _leaks(library, "cid@example.org") == []
    library.assert_sound()


def test_changed_rules_make_the_documents_anew(library: Stages) -> None:
    """Fewer categories, then other patterns in the same file, then none at ingestion: the plan names each."""
    before = library.document("own.md")["version"]
    _configure(library, "{at: ingest, categories: [email], patterns: ./patterns.yaml}")
    assert library.pending().documents == len(CANARIES) + 2
    assert library.run()["documents"].failed == 0
    shown = library.knowledge.show(library.uri("own.md"), unredacted=True)
    assert (shown.metadata["card"], shown.metadata["keeper"]) == (4111111111111111, "[EMAIL_1]")
    assert library.document("own.md")["version"] == before + 1
    assert library.pending().documents == 0
    (library.root.parent / "patterns.yaml").write_text("STAFF: 'E-[0-9]{6}'\n")
    assert library.pending().documents == len(CANARIES) + 2
    with library.connection() as connection:
        (plan,) = make_plans(connection, None, [library.collection])
    assert {item.reason for item in plan.items} == {Reason.REVISED}
    assert all("+redaction-" in item.detail for item in plan.items)
    library.run()
    assert "[STAFF_1]" in library.knowledge.show(library.uri("own.md"), unredacted=True).text
    _configure(library, "{at: output, categories: [email]}")
    library.run()
    assert OWN in library.knowledge.show(library.uri("own.md"), unredacted=True).text
    _configure(library, "{at: ingest, categories: [email], patterns: ./patterns.yaml}")
    library.run()
    with library.connection() as connection:
        held = connection.execute("SELECT string_agg(markdown, '') FROM parsed_content").fetchone()
    assert held is not None
    assert OWN not in held[0]
    assert "ana@example.org" not in held[0]
    library.assert_sound()


def test_no_word_stays_where_words_of_audiences_are_counted(stages: Stages) -> None:
    """What some may not see is counted by words, too; those of before the redaction go with their entries."""
    (stages.root.parent / "patterns.yaml").write_text("EMPLOYEE: 'keeperin'\n")
    stages.write("own.md", "# Staff\n\nThe staff is the keeperin.")
    for at in ("output", "ingest"):
        redaction: dict[str, Any] = {"at": at, "categories": [], "patterns": "./patterns.yaml"}
        folder = {"root": f"./{stages.root.name}", "allowed": ["group:board"]}
        stages.configure(json.dumps({"collections": {stages.collection: {"files": [folder], "redaction": redaction}}}))
        stages.run()
        words = stages.rows("SELECT token FROM lexeme_audience")
        assert ("keeperin" in {row["token"] for row in words}) == (at == "output")
    assert not any("keeperin" in str(stages.rows(f"SELECT * FROM {name}")) for name in ("lexeme", "search_entry"))


def test_without_its_patterns_nothing_is_stored(library: Stages) -> None:
    (library.root.parent / "patterns.yaml").unlink()
    library.write("new.md", f"The keeper is {OWN}.")
    with pytest.raises(ConfigurationError, match="patterns of redaction cannot be read"):
        library.run()
    assert library.rows("SELECT FROM document WHERE uri = %(uri)s", uri=library.uri("new.md")) == []


def _configure_site(stages: Stages, at: str) -> None:
    site = {
        "url": stages.address("/"),
        "politeness": {"requests_per_second": "unlimited"},
        "render": "never",
        "request": {"timeout": "5s"},
    }
    stages.configure(json.dumps({"collections": {stages.collection: {"sites": [site], "redaction": {"at": at}}}}))


def test_pages_are_stored_with_placeholders(stages: Stages) -> None:
    """Those that were crawled before are redacted where they are, and what comes later as it comes."""
    text = "Write to ana@example.org, who keeps the lamp of the lighthouse burning through every night."
    stages.web.page("/", html("Call ana@example.org", text))
    _configure_site(stages, "output")
    stages.run()
    assert "ana@example.org" in str(stages.rows("SELECT markdown, title FROM parsed_content"))
    _configure_site(stages, "ingest")
    stages.run()
    assert _leaks(stages, "ana@example.org") == []
    assert stages.pending().documents == 0
    stages.web.page("/", html("Call ana@example.org", text, "Or to ben@example.org, who trims the wick."))
    stages.refresh()
    assert "[EMAIL_2]" in str(stages.rows("SELECT markdown FROM parsed_content"))
    stages.run()
    assert _leaks(stages, "ana@example.org", "ben@example.org") == []
    stages.assert_sound()


def test_transcripts_are_stored_with_placeholders(stages: Stages) -> None:
    """Also a number that is spoken across two windows, and the tags of the recording."""
    with stages.connection() as connection:
        ledger = TranscriptLedger(connection, Recording(bytes(32), 20.0, None), "engine", redactor=Redactor())
        ledger.add(0.0, Window(12.0, None, (Segment(0.0, 9.0, "Write to ana@example.org, card 4111 1111", -0.2, 0.1),)))
        assert "ana@example.org" not in str(ledger.segments())
        ledger.add(12.0, Window(20.0, None, (Segment(13.0, 15.0, "1111 1111 please.", -0.2, 0.1),)))
        ledger.finish(None)
        assert [segment.text for segment in ledger.segments()] == [
            "Write to [EMAIL_1], card [CARD_1]",
            "[CARD_1] please.",
        ]
        assert not ledger.state().damaged

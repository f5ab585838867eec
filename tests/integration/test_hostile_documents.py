"""Documents whose values the database refuses, or cannot hold: each fails alone, or is cleaned."""

import json
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from sourcebook.model.report import StageReport
from sourcebook.model.selection import Selection
from sourcebook.stages.embeddings import SubmittingEmbedder, embed_missing
from tests.integration.stages import Stages, html

RTF = rb"{\rtf1\ansi \trowd\cellx1000 \u0 ?Lower\cell\row\pard x\par}"
ADDRESSES = {"changed_item", "item_processing", "document_name"}
"""Tables that hold the address of an item, which every other row of it repeats."""
REFUSE = """
CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = sourcebook, public AS $$
DECLARE
    held jsonb := to_jsonb(NEW);
BEGIN
    IF held ->> 'failure' IS NULL AND coalesce(held ->> 'state', 'fetched') = 'fetched' AND is_victim(held) THEN
        RAISE EXCEPTION 'integer out of range' USING ERRCODE = '22003';
    END IF;
    RETURN NEW;
END
$$;
CREATE OR REPLACE FUNCTION is_victim(held jsonb) RETURNS boolean
LANGUAGE sql STABLE SET search_path = sourcebook, public
RETURN coalesce(held ->> 'url', held ->> 'uri', held::text) ~ 'victim'
    OR (held ->> 'document_id')::bigint IN (SELECT id FROM document WHERE uri ~ 'victim')
    OR (held ->> 'chunk_id')::bigint IN (
        SELECT chunk.id FROM chunk JOIN document ON document.id = document_id WHERE uri ~ 'victim')
    OR (held ->> 'text_hash')::bytea IN (SELECT embedding_hash FROM chunk WHERE text ~ 'victim');
"""


def test_a_nul_in_a_file_stops_nothing(stages: Stages) -> None:
    stages.write("a.md", "The flag is green.")
    stages.write("b.rtf", RTF)
    stages.write("c.md", "The flag is white.")
    stages.configure()
    stages.run()
    assert stages.found("flag") == {"a.md", "c.md"}
    assert stages.found("lower") == {"b.rtf"}


def test_a_row_that_the_database_refuses_fails_its_document_alone_in_every_table(stages: Stages) -> None:
    """The tables are those of the catalog to which a document came; a new one is tried, too.

    The others of the batch are published, the failure is shown once and is not tried again, a change is.
    """
    _write(stages, "first")
    site = {
        "url": stages.address("/sitemap.xml"),
        "politeness": {"requests_per_second": "unlimited"},
        "render": "never",
    }
    stages.configure(json.dumps({"collections": {"handbook": {"files": [{"root": "./docs"}], "sites": [site]}}}))
    stages.run()
    _execute(stages, REFUSE)
    held = [
        name
        for name in _tables(stages)
        if stages.rows(f"SELECT FROM sourcebook.{name} held WHERE is_victim(to_jsonb(held)) LIMIT 1")
    ]
    assert {"raw_file", "frontier", "crawled_page", "parsed_content", "document", "chunk", "indexed_document"} < {*held}
    assert {"embedding", "search_entry", "keyword_entry", "lexeme", "document_name", "document_relation"} < {*held}
    for name in sorted({*held} - ADDRESSES):
        _execute(
            stages, f"CREATE TRIGGER refused BEFORE INSERT OR UPDATE ON {name} FOR EACH ROW EXECUTE FUNCTION refuse()"
        )
        _write(stages, f"refused{name}")
        reports = _run(stages)
        assert {"other", "other.md"} <= stages.found(f"refused{name}"), f"{name}: the others are published"
        failures = {failure.uri: failure.reason for report in reports.values() for failure in report.failures}
        assert failures, name
        assert all("victim" in uri and "(integer out of range)" in reason for uri, reason in failures.items()), failures
        assert stages.problems().keys() <= failures.keys() | {"/victim"}, name
        assert stages.problems(), name
        assert not stages.pending().work, name
        assert not any(report.worked or report.failed for report in stages.run().values()), f"{name} is tried again"
        _execute(stages, f"DROP TRIGGER refused ON {name}")
        _write(stages, f"mended{name}")
        _run(stages)
        assert not stages.problems(), name
        assert len(stages.found(f"mended{name}")) == 4, name
    stages.assert_sound()


def _execute(stages: Stages, statement: str) -> None:
    with stages.connection() as connection:
        connection.execute(statement.encode())


def _write(stages: Stages, word: str) -> None:
    for page in ("victim", "other"):
        stages.web.page(f"/{page}", html(page, f"The {page} of the site is {word}."))
    stages.web.sitemap("/sitemap.xml", ["/victim", "/other"])
    stages.write("victim.md", f"# The victim\n\nThe [other](other.md) is {word}.")
    stages.write("other.md", f"# The other\n\nThe flag is {word}.")


def _run(stages: Stages) -> dict[str, StageReport]:
    stages.rows("UPDATE source SET next_crawl_at = now() WHERE kind = 'site' RETURNING 1")
    return stages.run()


def _tables(stages: Stages) -> list[str]:
    rows = stages.rows(
        "SELECT relname AS name FROM pg_class WHERE relnamespace = 'sourcebook'::regnamespace "
        "AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1"
    )
    return [row["name"] for row in rows]


@dataclass
class OddModel:
    """The model, which has no finite number for some texts."""

    model: SubmittingEmbedder
    odd: str

    def submit(self, texts: Sequence[str]) -> Future[NDArray[np.float32]]:
        vectors = self.model.submit(texts).result().copy()
        vectors[[self.odd in text for text in texts], 0] = np.nan
        found: Future[NDArray[np.float32]] = Future()
        found.set_result(vectors)
        return found


def test_a_text_without_a_finite_vector_fails_its_document_alone(stages: Stages) -> None:
    """The weights are to blame only where no text has one; a retry by a person embeds it."""
    stages.write("victim.md", "The victim is odd.")
    stages.write("other.md", "The other is even.")
    stages.configure()
    stages.raw_files()
    stages.documents()
    stages.chunks()
    with pytest.raises(FloatingPointError, match="weights are damaged"):
        _embed(stages, "is")
    report = _embed(stages, "victim")
    assert [failure.uri for failure in report.failures] == [stages.uri("victim.md")]
    assert report.extra["computed"] == 1
    stages.search_index()
    assert stages.found("odd even") == {"other.md"}
    assert stages.item("victim.md")["state"] == "failed"
    assert not stages.pending().work
    assert not stages.run()["embeddings"].worked
    stages.run(Selection(only_failed=True))
    assert stages.item("victim.md")["state"] == "ready"
    assert stages.found("odd even") == {"victim.md", "other.md"}


def _embed(stages: Stages, odd: str) -> StageReport:
    with stages.connection() as reader, stages.connection() as writer:
        return embed_missing(reader, writer, stages.generation, lambda _: OddModel(stages.embedder, odd))

"""Many new documents are found by their words before any of them is embedded, and by meaning as they are embedded."""

from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from sourcebook.admin.summaries import collection_summaries
from sourcebook.contract.filling import Filling
from sourcebook.embedding.onnx.embed import OnnxEmbedder
from sourcebook.errors import ModelError
from sourcebook.indexing.damage import find_every_damage
from sourcebook.model.selection import Selection
from sourcebook.stages import embeddings
from sourcebook.stages.documents.update import update_documents
from sourcebook.stages.embeddings import embed_missing
from sourcebook.stages.words_first import FEW, Ahead, WordsFirst
from tests.integration.kill_drills import Work, ends_well
from tests.integration.stages import Stages
from tests.integration.test_hostile_documents import OddModel
from tests.integration.test_model_choice import ENGLISH, GERMAN, PLAIN

NUMBER = FEW + 6
LOG = f"# Gauge {{0}}\n\nThe keel of boat{{0}} was painted.\n\n# Log\n\n{'The mooring held in the gale. ' * 45}\n"
"""A document of three passages."""
REFUSE_BOAT_7 = """
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE numeric_value_out_of_range; END $$;
    CREATE TRIGGER refused BEFORE INSERT ON chunk FOR EACH ROW WHEN (NEW.text ~ 'boat7 ') EXECUTE FUNCTION refuse()"""


class FailingEmbedder:
    """Embeds some batches with the model, and fails after that, as where its process is killed."""

    def __init__(self, model: OnnxEmbedder, batches: int) -> None:
        self._model, self._left = model, batches

    def submit(self, texts: Sequence[str]) -> Future[NDArray[np.float32]]:
        """Compute, or fail."""
        if not self._left:
            raise ModelError("the embedding process was ended")
        self._left -= 1
        return self._model.submit(texts)


def make_documents(stages: Stages) -> Ahead:
    """Bring files as far as the documents' stage, in which their words are published; nothing is embedded."""
    ahead = Ahead()
    stages.raw_files()
    with stages.connection() as connection:
        recorded = WordsFirst(connection, stages.collection, ahead).publish
        update_documents(connection, stages.collection, parsers=stages.parsers, recorded=recorded)
    return ahead


def embed(stages: Stages, ahead: Ahead, model: "OnnxEmbedder | FailingEmbedder | OddModel") -> None:
    """Embed, and publish what is embedded meanwhile."""
    generation = stages.generation
    with stages.connection() as reader, stages.connection() as writer:
        embed_missing(
            reader,
            writer,
            generation,
            lambda _: model,
            embedded=lambda documents: ahead.publish_embedded(writer, generation, documents),
        )


def filling(stages: Stages) -> Filling | None:
    with stages.connection() as connection:
        (summary,) = collection_summaries(connection)
    assert summary.filling == stages.status().filling
    return summary.filling


def assert_undamaged(stages: Stages) -> None:
    with stages.connection() as connection:
        assert not find_every_damage(connection, stages.collection, deep=True)


@pytest.fixture
def begun(stages: Stages) -> Ahead:
    """Seventy documents whose words are published."""
    stages.configure()
    for number in range(NUMBER):
        stages.write(f"{number}.md", LOG.format(number))
    return make_documents(stages)


def test_words_are_found_before_anything_is_embedded(stages: Stages, begun: Ahead) -> None:
    """Searches say so, find nothing to refuse, and load no model."""
    assert begun.entries.added == begun.chunks.added == 3 * NUMBER
    found = stages.knowledge.search("boat7", limit=3)
    assert found[0].uri == stages.uri("7.md")
    assert found.dropped_legs["vector"].startswith("no passage has a vector yet")
    share = Filling("handbook", NUMBER, NUMBER, 0)
    assert found.filling == (share,)
    assert found.notes[-1] == "handbook is being filled: 70 of 70 documents are searchable, 0 of them by meaning too"
    assert filling(stages) == share
    assert stages.pending().index == NUMBER
    assert_undamaged(stages)


def test_documents_get_their_vectors_whole_and_the_next_run_goes_on(
    stages: Stages, begun: Ahead, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a failure some documents have all of their vectors, the others none; the passages stay the same ones."""
    monkeypatch.setattr(embeddings, "BATCH", 8)
    monkeypatch.setattr(embeddings, "PASSAGES_AT_ONCE", 16)
    passages = stages.chunk_ids("7.md")
    with pytest.raises(ModelError):
        embed(stages, begun, FailingEmbedder(stages.embedder, 9))
    shares = stages.rows("SELECT FROM search_entry GROUP BY document_id HAVING count(vector) NOT IN (0, count(*))")
    assert not shares
    half = filling(stages)
    assert half is not None
    assert 8 <= half.with_vectors < NUMBER == half.searchable
    assert stages.search("the mooring held", mode="vector").filling == (half,)
    assert_undamaged(stages)
    reports = stages.run()
    assert reports["embeddings"].extra["computed"] < 3 * NUMBER
    assert filling(stages) is None
    assert stages.search("boat7").filling == ()
    assert stages.chunk_ids("7.md") == passages
    assert not stages.pending().work
    assert_undamaged(stages)
    stages.assert_sound()


def test_an_ingest_that_is_killed_again_and_again_goes_on(stages: Stages, tmp_path: Path) -> None:
    """After each kill the documents that are published are whole, and none of the earlier ones is gone."""
    stages.configure()
    for number in range(NUMBER):
        stages.write(f"{number}.md", LOG.format(number))
    published = killed = 0
    with Work(stages.database, tmp_path / "home") as work:
        for tenths in (4, 8, 12, 16, 20, 24):
            killed += work.kill(tenths / 10, "fill", stages.collection, with_sessions=tenths % 8 == 0)
            assert not stages.rows(
                "SELECT FROM search_entry GROUP BY document_id HAVING count(vector) NOT IN (0, count(*))"
            )
            before, published = published, len(stages.rows("SELECT DISTINCT document_id FROM search_entry"))
            assert published >= before
            assert_undamaged(stages)
        ends_well(work, "fill", stages.collection)
    assert killed
    assert filling(stages) is None
    assert not stages.pending().work
    stages.assert_sound()


def test_the_run_that_publishes_ahead_reports_as_one_that_does_not(stages: Stages, begun: Ahead) -> None:
    """Chunks and entries are counted once, where they are looked for."""
    from sourcebook.stages.chunks import prepare_chunks
    from sourcebook.stages.search_index import publish

    generation = stages.generation
    with stages.connection() as connection:
        chunks = prepare_chunks(connection, generation, ahead=begun.chunks)
        embed(stages, begun, stages.embedder)
        entries = publish(connection, generation, ahead=begun.entries)
    assert (chunks.added, chunks.unchanged, chunks.total) == (3 * NUMBER, 0, 3 * NUMBER)
    assert (entries.added, entries.unchanged, entries.extra["documents"]) == (3 * NUMBER, 0, NUMBER)
    stages.assert_sound()


def test_a_published_document_keeps_its_version_until_the_new_one_is_embedded(stages: Stages, begun: Ahead) -> None:
    """An edit of a document that waits for vectors does, too."""
    stages.write("3.md", LOG.format("EDITED"))
    stages.raw_files()
    stages.documents()
    stages.chunks()
    assert stages.found("boat3") == {"3.md"}
    stages.run()
    assert stages.found("boatEDITED") == {"3.md"}
    for number in range(NUMBER):
        stages.write(f"{number}.md", LOG.format(f"new{number}"))
    ahead = make_documents(stages)
    assert ahead.entries.added == 0
    assert stages.found("boat9") == {"9.md"}
    assert filling(stages) is None
    stages.run()
    assert stages.found("boatnew9") == {"9.md"}
    stages.assert_sound()


def test_few_documents_are_published_with_their_vectors(stages: Stages) -> None:
    stages.configure()
    for number in range(FEW):
        stages.write(f"{number}.md", LOG.format(number))
    assert make_documents(stages).entries.added == 0
    assert filling(stages) == Filling("handbook", FEW, 0, 0)


def test_all_documents_confirm_the_model_that_the_first_ones_chose(stages: Stages) -> None:
    """No vector was computed for the other model, and there is one generation."""
    stages.configure(PLAIN)
    for number in range(NUMBER):
        stages.write(f"office{number}.md", ENGLISH.format(number))
    make_documents(stages)
    assert stages.generation.model.startswith("all-MiniLM-L6-v2:")
    for number in range(NUMBER):
        stages.write(f"amt{number}.md", GERMAN.format(number))
    make_documents(stages)
    stages.chunks()
    (row,) = stages.rows("SELECT id, model FROM generation")
    assert row["model"].startswith("multilingual-e5-small:")
    assert {name[:3] for name in stages.found("Boot")} == {"amt"}
    assert not stages.rows("SELECT FROM embedding")
    assert len(stages.rows("SELECT FROM chunk WHERE generation_id = %(id)s", id=row["id"])) > 3 * NUMBER


def test_a_force_of_everything_publishes_nothing_ahead(stages: Stages, begun: Ahead) -> None:
    stages.run()
    stages.run(Selection(force=True))
    stages.assert_sound()


def test_a_document_without_a_finite_vector_does_not_keep_its_collection_filling(stages: Stages, begun: Ahead) -> None:
    """It fails alone and stays found by its words; the others have their vectors, and what is irrelevant is refused."""
    embed(stages, begun, OddModel(stages.embedder, "boat7 "))
    stages.search_index()
    assert stages.item("7.md")["state"] == "failed"
    assert stages.found("boat7") == {"7.md"}
    assert filling(stages) is None
    found = stages.search("boat8", mode="vector")
    assert (found.filling, found.dropped_legs) == ((), {})
    assert not stages.pending().work
    assert_undamaged(stages)
    stages.run(Selection(only_failed=True))
    assert stages.item("7.md")["state"] == "ready"
    assert not stages.rows("SELECT FROM search_entry WHERE vector IS NULL")
    stages.assert_sound()


def test_a_document_whose_passages_are_refused_is_not_published_without_them(stages: Stages) -> None:
    """The others are; no later run tries it again by itself, and a retry by a person publishes it."""
    stages.configure()
    for number in range(NUMBER):
        stages.write(f"{number}.md", LOG.format(number))
    with stages.connection() as connection:
        connection.execute(REFUSE_BOAT_7)
    ahead = make_documents(stages)
    assert [failure.uri for failure in ahead.chunks.failures] == [stages.uri("7.md")]
    assert stages.found("boat8") == {"8.md"}
    embed(stages, ahead, stages.embedder)
    stages.search_index()
    assert stages.item("7.md")["state"] == "failed"
    assert stages.rows("SELECT FROM indexed_document WHERE published_hash IS NULL")
    assert not make_documents(stages).chunks.failures
    assert not stages.pending().work
    with stages.connection() as connection:
        connection.execute("DROP TRIGGER refused ON chunk")
    stages.run(Selection(only_failed=True))
    assert stages.found("boat7") == {"7.md"}
    assert filling(stages) is None
    stages.assert_sound()

"""The setting `chunking.context`: another one is another generation, and its vectors are those of a first ingest."""

from sourcebook.search.ranking.passages import read_texts
from tests.integration.stages import Stages

FIRST = "The gauge at the pier is read at noon by the keeper, who writes the level into a book. " * 3
SECOND = "It has two batteries, which last for ninety hours when the mains fail in winter. " * 3


def _configure(stages: Stages, context: str) -> None:
    files = f"files: [{{root: ./{stages.root.name}}}]"
    chunking = f"chunking: {{tokens: 64, context: {context}}}"
    stages.configure(f"collections:\n  {stages.collection}:\n    {files}\n    {chunking}\n")


def _embedded(stages: Stages) -> list[str]:
    """Return the embedded texts of the active generation's passages, sorted."""
    rows = stages.rows(
        "SELECT context || text AS embedded FROM chunk JOIN search_entry entry ON entry.chunk_id = chunk.id "
        "WHERE chunk.generation_id = %(id)s ORDER BY 1",
        id=stages.generation.id,
    )
    return [row["embedded"] for row in rows]


def test_another_context_is_another_generation_that_stays_true(stages: Stages) -> None:
    """An edit embeds the passage behind the edited one, too, whose context changed; others are embedded once."""
    stages.write("gauge.md", f"# Gauge\n\n{FIRST}\n\n{SECOND}")
    _configure(stages, "[headings, title]")
    stages.run()
    first = stages.generation.id
    _configure(stages, "[title, headings, previous]")
    report = stages.run()["embeddings"]
    stages.finish()
    generation = stages.generation
    assert generation.id != first
    assert generation.chunking["context"] == ["title", "headings", "previous"]
    assert report.added > 0
    assert any("into a book.\n\nIt has two batteries" in text for text in _embedded(stages))
    assert stages.run()["embeddings"].added == 0

    stages.write("gauge.md", f"# Gauge\n\n{FIRST.replace('a book', 'the log')}\n\n{SECOND}")
    stages.run()
    assert any("into the log.\n\nIt has two batteries" in text for text in _embedded(stages))
    assert not any("a book" in text for text in _embedded(stages))
    with stages.connection() as connection:
        chunks = [row["id"] for row in stages.rows("SELECT id FROM chunk")]
        texts = read_texts(connection, [generation.id], chunks).values()
    assert any("into the log." in text and "It has two batteries" in text for text in texts), "as a reranker reads it"
    stages.assert_sound()

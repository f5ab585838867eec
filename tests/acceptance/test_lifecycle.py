"""The whole graph through the command: a folder becomes searchable, and stays true as it changes."""

import json
import shutil
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

from sourcebook import KnowledgeBase
from sourcebook.database.database import Database
from sourcebook.embedding.onnx.embed import OnnxEmbedder
from tests.acceptance.workplace import Json, Workplace, rows
from tests.checkout import CHECKOUT
from tests.waiting import wait_until

ASSETS = (
    "raw_files",
    "crawled_pages",
    "transcripts",
    "documents",
    "chunks",
    "embeddings",
    "search_index",
    "index_upkeep",
)
HANDBOOK = "# Handbook\n\n" + "\n\n".join(
    f"## {title}\n\n" + f"{text} " * 20
    for title, text in {
        "Harbour": "The gauge stands on the northern pier behind the old customs house.",
        "Power": "The batteries last ninety hours when the electricity fails in a gale.",
        "Levelling": "The benchmarks are levelled every September by the society.",
    }.items()
)


def added_changed_removed(counts: Json) -> tuple[int, int, int]:
    return counts["added"], counts["changed"], counts["removed"]


def runs(database: Database) -> int:
    """Return how many runs Dagster has seen; it makes its tables with the first one."""
    with psycopg.connect(database.dagster_url()) as connection, suppress(psycopg.errors.UndefinedTable):
        return int((connection.execute("SELECT count(*) FROM runs").fetchone() or (0,))[0])
    return 0


def chunk_ids(database: Database, uri: str) -> dict[str, int]:
    found = rows(
        database,
        "SELECT chunk.text, chunk.id FROM chunk JOIN document ON document.id = document_id "
        "JOIN search_entry ON chunk_id = chunk.id WHERE uri = %(uri)s",
        uri=uri,
    )
    return {row["text"]: row["id"] for row in found}


def documents(workplace: Workplace, *options: str) -> dict[str, Json]:
    """Return the items of a workplace by the names of their files."""
    return {Path(item["uri"]).name: item for item in workplace.json("documents", *options)["documents"]}


@pytest.mark.usefixtures("model_was_exported")
@pytest.mark.timeout(900)
def test_a_library_of_every_format_stays_true_through_every_change(
    workplace: Workplace, settle: Callable[[Path], None], embedder: OnnxEmbedder
) -> None:
    workplace.configure(handbook="docs")
    others = shutil.ignore_patterns("*.m4a", "well-card-*")  # the demo has the recording and the scan
    shutil.copytree(CHECKOUT / "examples" / "library", workplace.docs, dirs_exist_ok=True, ignore=others)
    page = workplace.write("docs/handbook.md", HANDBOOK)
    workplace.write("docs/notes.txt", "The windmill was painted in spring.\n")
    files = [path for path in workplace.docs.rglob("*") if path.is_file()]
    for path in files:
        settle(path)
    readable = len(files) + 1 + 5  # what came with the message, and the instruments of a JSON file

    with workplace.database() as database, closing(KnowledgeBase(database, query_embedder=embedder)) as knowledge:
        # A first ingest takes everything in; what cannot be read is named with the reason.
        first = workplace.ingest()["handbook"]
        assert set(first) == set(ASSETS)
        for asset in ASSETS:
            assert {"added", "changed", "unchanged", "removed", "failed", "seconds"} <= set(first[asset])
            assert (first[asset]["removed"], first[asset]["failed"]) == (0, 0)
            # What was published a moment ago needs no upkeep.
            assert first[asset]["unchanged"] == (first["search_index"]["added"] if asset == "index_upkeep" else 0)
        assert (first["raw_files"]["added"], first["raw_files"].get("skipped", 0)) == (len(files), 0)
        assert first["documents"]["added"] == readable
        entries = first["search_index"]["added"]
        assert first["chunks"]["added"] == entries > readable
        assert 0 < first["embeddings"]["computed"] <= entries
        items = documents(workplace)
        assert {item["state"] for item in items.values()} == {"ready"}
        assert items["packing-list.csv"]["uri"].endswith("/loan-of-the-spare-gauge.eml/packing-list.csv")
        assert {item["media_type"] for item in items.values() if item["state"] == "ready"} >= {
            "text/markdown", "text/plain", "text/html", "text/csv", "application/pdf", "application/json",
            "image/png", "message/rfc822",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        }  # fmt: skip
        (status,) = workplace.json("status")["collections"]
        assert (status["name"], status["documents"], status["chunks"]) == ("handbook", readable, entries)
        assert (status["failed"], status["stale"], status["removed"]) == (0, 0, 0)
        assert status["embedding_model"] == "all-MiniLM-L6-v2"
        best = workplace.json("search", "How many hours do the batteries last?", "-c", "handbook", "-n", "1")["results"]
        assert [hit["version"] for hit in best] == [1]
        assert set(best[0]) >= {
            "document_id", "collection", "uri", "title", "heading_path", "anchor", "page", "ordinal", "text", "score",
            "vector_rank", "keyword_rank", "version",
        }  # fmt: skip
        wait_until(lambda: runs(database) == 1, seconds=120, what="the run is recorded")

        # Nothing changed: the ledger says so, and Dagster runs nothing.
        again = workplace.ingest()["handbook"]
        assert all(added_changed_removed(again[asset]) == (0, 0, 0) for asset in ASSETS)
        assert again["documents"]["unchanged"] == readable
        assert again["search_index"]["unchanged"] == entries
        assert runs(database) == 1

        # An edit: a new version; passages that did not change keep their rows, only the others are embedded.
        before = chunk_ids(database, workplace.uri("docs/handbook.md"))
        page.write_text(HANDBOOK.replace("batteries last ninety hours", "generators run for a fortnight"))
        settle(page)
        edited = workplace.ingest()["handbook"]
        after = chunk_ids(database, workplace.uri("docs/handbook.md"))
        new = len(after.keys() - before.keys())
        assert added_changed_removed(edited["documents"]) == (0, 1, 0)
        assert edited["embeddings"]["computed"] == new < len(after)
        assert edited["search_index"]["added"] == new
        assert {text: after[text] for text in after.keys() & before.keys()} == {
            text: before[text] for text in after.keys() & before.keys()
        }
        hit = knowledge.search("generators for a fortnight")[0]
        assert (Path(hit.uri).name, hit.version, hit.heading_path) == ("handbook.md", 2, ("Handbook", "Power"))
        assert (hit.anchor, hit.vector_rank) == ("power", 1)
        assert hit.keyword_rank in {1, 2}, "the section is two passages, which say the same as often"
        number = documents(workplace)["handbook.md"]["document_id"]

        # A rename is the same document: nothing is parsed, cut or embedded.
        page = page.rename(workplace.docs / "manual.md")
        renamed = workplace.ingest()["handbook"]
        assert (renamed["documents"]["renamed"], renamed["documents"]["added"], renamed["documents"]["removed"]) == (
            1,
            0,
            0,
        )
        assert renamed["embeddings"]["computed"] == 0
        assert documents(workplace)["manual.md"]["document_id"] == number
        assert chunk_ids(database, workplace.uri("docs/manual.md")) == after

        # A removal leaves the index in the same run, without loading a model.
        page.unlink()
        removed = workplace.ingest()["handbook"]
        assert added_changed_removed(removed["documents"]) == (0, 0, 1)
        assert removed["search_index"]["removed"] == len(after)
        assert not [hit for hit in knowledge.search("fortnight", mode="keyword") if "manual" in hit.uri]
        assert workplace.json("status")["collections"][0]["removed"] == 1
        assert documents(workplace, "--removed")["manual.md"]["state"] == "removed"

        # What returns comes back without work, as the document it was.
        shutil.copy(CHECKOUT / "LICENSE", workplace.docs / "license.txt")
        workplace.write(
            "docs/manual.md", HANDBOOK.replace("batteries last ninety hours", "generators run for a fortnight")
        )
        restored = workplace.ingest()["handbook"]
        assert restored["documents"]["returned"] == 1
        assert chunk_ids(database, workplace.uri("docs/manual.md")) == after
        shown = workplace.json("show", str(number))
        assert (shown["version"], shown["state"], len(shown["chunks"])) == (2, "ready", len(after))
        assert "generators run for a fortnight" in shown["text"]
        wait_until(lambda: runs(database) == 5, seconds=120, what="every run is recorded")


@pytest.fixture(scope="module")
def two_collections(shared_workplace: Workplace, exported_model: Path) -> Workplace:
    """Two small collections, not ingested yet, and beside them the model: not even a database."""
    shared_workplace.begin_prepared(exported_model)
    shared_workplace.configure(handbook="docs", other="more")
    for number in range(6):
        shared_workplace.write(f"docs/{number}.md", f"# Note {number}\n\nThe tide of day {number} was high.\n")
        shared_workplace.write(f"more/{number}.md", f"# Remark {number}\n\nThe wind of day {number} was strong.\n")
    return shared_workplace


@pytest.mark.parametrize(
    "arguments",
    [pytest.param((("handbook",), ("other",)), id="apart"), pytest.param(((), ()), id="together")],
)
def test_two_ingests_at_once_end_as_one(
    two_collections: Workplace, arguments: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    """At first both find no database; then both take the same changes in, settings included."""
    workplace = two_collections
    if arguments == ((), ()):
        folder = "    files:\n      - root: "
        text = workplace.configuration.read_text()
        workplace.configuration.write_text(text.replace(folder, f"    chunking: {{tokens: 64}}\n{folder}"))
    workplace.write("docs/extra.md", f"# Extra\n\nThe flag of {arguments} is white.\n")
    started = [workplace.start("ingest", *names, "--json") for names in arguments]
    told = []
    for process in started:
        out, err = process.communicate(timeout=240)
        assert process.returncode == 0, err
        told.append(json.loads(out)["collections"])
    if arguments == ((), ()):
        worked = [bool(collections["handbook"]["search_index"]["added"]) for collections in told]
        assert sorted(worked) == [False, True], "one works, the other finds it done"
    with workplace.database() as database:
        assert not rows(database, "SELECT collection, uri FROM document GROUP BY 1, 2 HAVING count(*) > 1")
        assert not rows(
            database,
            "SELECT FROM indexed_document indexed WHERE chunk_count <> (SELECT count(*) FROM search_entry entry "
            "WHERE entry.generation_id = indexed.generation_id AND entry.document_id = indexed.document_id)",
        )
    if arguments == ((), ()):
        found = workplace.json("generations")["generations"]
        states = [(each["collection"], each["state"], each["chunking"]["tokens"]) for each in found]
        wanted = [(name, *each) for name in ("handbook", "other") for each in (("active", 64), ("kept", 256))]
        assert states == wanted, "one of the processes built a generation of each"
    assert {item["state"] for item in documents(workplace).values()} == {"ready"}

"""Drive the stages one by one, as the assets do, without Dagster."""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.admin.checks import OF_INDEX, run_checks
from sourcebook.admin.collections import Applied, apply
from sourcebook.admin.items import list_items
from sourcebook.admin.pending import Pending, find_pending
from sourcebook.admin.status import collection_statuses
from sourcebook.config.loading import load_configuration
from sourcebook.contract.listing import DocumentsRequest
from sourcebook.contract.search_results import SearchResults
from sourcebook.contract.status import CollectionStatus
from sourcebook.database.database import Database
from sourcebook.database.queries import marked
from sourcebook.embedding.onnx.embed import OnnxEmbedder
from sourcebook.files.listing import file_uri
from sourcebook.indexing.generations import ensure_generation, ensure_generations
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.generation import Generation
from sourcebook.model.progress import Progress, silent
from sourcebook.model.report import StageReport
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.parsing.parser_pool import ParserPool
from sourcebook.stages.chunks import prepare_chunks
from sourcebook.stages.crawled_pages import update_crawled_pages
from sourcebook.stages.documents.update import update_documents
from sourcebook.stages.embeddings import embed_missing
from sourcebook.stages.generations import finish_generations, in_each_generation
from sourcebook.stages.index_upkeep import maintain_index
from sourcebook.stages.raw_files import update_raw_files
from sourcebook.stages.search_index import publish
from sourcebook.stages.transcripts.update import update_transcripts
from tests.web_server import WebServer

Row = dict[str, Any]


@dataclass
class Stages:
    """One configuration over one database, with a folder `root` of documents, and with `web`, a server of pages."""

    database: Database
    embedder: OnnxEmbedder
    parsers: ParserPool
    root: Path
    settle: Callable[[Path], None]
    speech_home: Path = Path("unset")
    """Where weights are kept that have to be made: once for all tests."""
    collection: str = "handbook"
    _knowledge: KnowledgeBase | None = field(default=None, repr=False)

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file below the root, as if long ago."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.settle(path)
        return path

    def uri(self, name: str) -> str:
        return file_uri(str(self.root / name))

    def configure(self, text: str | None = None) -> Applied:
        """Apply a `sourcebook.yaml`; by default one collection over the root."""
        file = self.root.parent / "sourcebook.yaml"
        file.write_text(text or f"collections:\n  {self.collection}:\n    files:\n      - root: ./{self.root.name}\n")
        with self.connection() as connection:
            return apply(connection, load_configuration(file))

    def connection(self) -> AbstractContextManager[Connection]:
        return self.database.connection()

    @property
    def generation(self) -> Generation:
        with self.connection() as connection:
            return ensure_generation(connection, self.collection)

    def generation_tables(self) -> list[str]:
        return sorted(self.generation.tables)

    @cached_property
    def web(self) -> WebServer:
        """A web server of this test's own, which runs from its first use."""
        return WebServer().__enter__()

    def configure_site(self, start: str = "/", **settings: Any) -> Applied:
        """Apply a configuration of one collection over one site of `web`: as fast as it goes, without a browser."""
        return self.configure_sites({"url": start, **settings})

    def configure_sites(self, *sites: dict[str, Any]) -> Applied:
        """The same over several sites."""
        groups: Row = {"politeness": {"requests_per_second": "unlimited"}, "request": {"timeout": "5s"}}
        entries = [
            {"render": "never", **site, "url": self.address(site["url"])}
            | {name: group | site.get(name, {}) for name, group in groups.items()}
            for site in sites
        ]
        return self.configure(json.dumps({"collections": {self.collection: {"sites": entries}}}))

    def address(self, path: str) -> str:
        return path if "://" in path else f"{self.web.url}{path}"

    def refresh(self, selection: Selection = EVERYTHING) -> StageReport:
        """Let the refresh interval of every site be over, then crawl, and make documents of what was found."""
        self.rows("UPDATE source SET next_crawl_at = now() WHERE kind = 'site' RETURNING 1")
        return self.crawl(selection)

    def crawl(self, selection: Selection = EVERYTHING) -> StageReport:
        """Crawl what is due, make documents of what was found, and return what the crawl did."""
        report = self.crawled_pages(selection)
        self.documents(selection)
        return report

    def pages(self) -> set[str]:
        """Return the paths of the pages that are documents now."""
        rows = self.rows("SELECT uri FROM document WHERE removed_at IS NULL AND kind = 'page'")
        return {row["uri"].removeprefix(self.web.url) for row in rows}

    def page(self, path: str) -> Row:
        """Return the row of the document of one page."""
        (row,) = self.rows("SELECT * FROM document WHERE uri = %(uri)s", uri=self.address(path))
        return row

    def frontier(self, path: str) -> Row:
        """Return what the ledger says of one URL."""
        (row,) = self.rows("SELECT * FROM frontier WHERE url = %(url)s", url=self.address(path))
        return row

    def problems(self) -> dict[str, str]:
        """Return what a person is told: for each path, or site, that is not searchable, why."""
        with self.connection() as connection:
            found = list_items(connection, DocumentsRequest(failed=True))
        return {item.uri.removeprefix(self.web.url): item.error or "" for item in found}

    def status(self) -> CollectionStatus:
        with self.connection() as connection:
            (status,) = collection_statuses(connection)
        return status

    def site_error(self) -> str | None:
        """Return what a person is told of the only site as a whole."""
        (row,) = self.rows("SELECT listing_error FROM source WHERE kind = 'site' AND removed_at IS NULL")
        error: str | None = row["listing_error"]
        return error

    def raw_files(self, selection: Selection = EVERYTHING) -> StageReport:
        with self.connection() as connection:
            return update_raw_files(connection, self.collection, selection)

    def crawled_pages(self, selection: Selection = EVERYTHING, progress: Progress = silent) -> StageReport:
        folder = self.root.parent / "crawl4ai"
        with self.connection() as connection:
            return update_crawled_pages(connection, self.collection, selection, progress, folder=folder)

    def transcripts(self, selection: Selection = EVERYTHING, progress: Progress = silent) -> StageReport:
        with self.connection() as connection:
            return update_transcripts(connection, self.collection, selection, progress, home=self.speech_home)

    def documents(self, selection: Selection = EVERYTHING) -> StageReport:
        with self.connection() as connection:
            return update_documents(connection, self.collection, selection, parsers=self.parsers)

    def chunks(self, selection: Selection = EVERYTHING) -> StageReport:
        with self.connection() as connection:
            return in_each_generation(
                connection,
                ensure_generations(connection, self.collection),
                lambda generation: prepare_chunks(connection, generation, selection),
                is_first=True,
            )

    def embeddings(self) -> StageReport:
        with self.connection() as reader, self.connection() as writer:
            return in_each_generation(
                reader,
                ensure_generations(reader, self.collection),
                lambda generation: embed_missing(reader, writer, generation, lambda _: self.embedder),
            )

    def search_index(self) -> StageReport:
        with self.connection() as connection:
            return in_each_generation(
                connection,
                ensure_generations(connection, self.collection),
                lambda generation: publish(connection, generation),
            )

    def finish(self) -> Generation | None:
        """Activate the generation being built where it is whole, and delete those that are not kept."""
        with self.connection() as connection:
            for generation in ensure_generations(connection, self.collection):
                maintain_index(connection, generation)
            return finish_generations(connection, self.collection)

    def run(self, selection: Selection = EVERYTHING) -> dict[str, StageReport]:
        """Run every stage."""
        return {
            "raw_files": self.raw_files(selection),
            "crawled_pages": self.crawled_pages(selection),
            "transcripts": self.transcripts(selection),
            "documents": self.documents(selection),
            "chunks": self.chunks(selection),
            "embeddings": self.embeddings(),
            "search_index": self.search_index(),
        }

    def run_all(self, *collections: str) -> None:
        """Run every stage of each collection; the last one stays the present one."""
        for self.collection in collections:
            self.run()

    def pending(self, selection: Selection = EVERYTHING) -> Pending:
        """Return the pending work by the change sets, and assert that a comparison of all rows finds the same."""
        with self.connection() as connection:
            found = find_pending(connection, self.collection, selection)
            assert found == find_pending(connection, self.collection, replace(selection, thorough=True))
        return found

    def search(self, query: str, **options: Any) -> SearchResults:
        """Search; every passage is a result, duplicates too, unless `min_relevance` or `duplicates` is given."""
        return self.knowledge.search(query, **{"min_relevance": 0, "duplicates": "show", **options})

    @property
    def knowledge(self) -> KnowledgeBase:
        """The knowledge base, whose questions the shared model embeds."""
        if self._knowledge is None:
            self._knowledge = KnowledgeBase(self.database, query_embedder=self.embedder)
        return self._knowledge

    def found(self, word: str) -> set[str]:
        """Return the names of the documents in which a word is found."""
        return {Path(hit.uri).name for hit in self.search(word, mode="keyword", limit=50)}

    def rows(self, statement: str, **parameters: Any) -> list[Row]:
        """Execute a statement as one of the library's own, and return its rows."""
        with self.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(marked("of_a_test", statement).encode(), parameters).fetchall()

    def document(self, name: str) -> Row:
        """Return the row of one document, by its file's name."""
        (row,) = self.rows("SELECT * FROM document WHERE uri = %(uri)s", uri=self.uri(name))
        return row

    def raw_file(self, name: str) -> Row:
        (row,) = self.rows("SELECT * FROM raw_file WHERE uri = %(uri)s", uri=self.uri(name))
        return row

    def item(self, name: str) -> Row:
        """Return what a person is told of one file."""
        where = "uri = %(uri)s AND collection = %(collection)s AND state <> 'removed'"
        (row,) = self.rows(f"SELECT * FROM item WHERE {where}", uri=self.uri(name), collection=self.collection)
        return row

    def chunk_ids(self, name: str) -> dict[str, int]:
        """Return the published chunks of a document: id by text. Fails where two chunks have one text."""
        rows = self.rows(
            "SELECT chunk.id, chunk.text FROM chunk JOIN search_entry entry ON entry.chunk_id = chunk.id "
            "WHERE chunk.document_id = %(id)s ORDER BY ordinal",
            id=self.document(name)["id"],
        )
        found = {row["text"]: row["id"] for row in rows}
        assert len(found) == len(rows)
        return found

    def due_now(self) -> None:
        """Let the time of every retry come."""
        self.rows("UPDATE frontier SET next_attempt_at = now() WHERE next_attempt_at IS NOT NULL RETURNING 1")
        self.rows("UPDATE raw_file SET next_retry_at = now() WHERE next_retry_at IS NOT NULL RETURNING 1")
        self.rows("UPDATE document SET next_retry_at = now() WHERE next_retry_at IS NOT NULL RETURNING 1")
        self.rows("UPDATE transcribed_file SET next_retry_at = now() WHERE next_retry_at IS NOT NULL RETURNING 1")

    def assert_sound(self) -> None:
        """Assert that nothing is half done: every check passes, and no prepared row is left over."""
        with self.connection() as connection:
            for outcome in run_checks(connection, self.collection):
                assert outcome.name not in OF_INDEX or not outcome.violations, outcome
        assert not self.rows(
            "SELECT chunk.id, document.uri FROM chunk JOIN document ON document.id = chunk.document_id "
            "WHERE document.removed_at IS NULL AND NOT EXISTS "
            "(SELECT FROM search_entry entry WHERE entry.chunk_id = chunk.id)"
        )
        assert not self.rows(
            "SELECT entry.document_id FROM search_entry entry JOIN chunk ON chunk.id = entry.chunk_id "
            "GROUP BY entry.generation_id, entry.document_id "
            "HAVING min(ordinal) <> 0 OR max(ordinal) <> count(*) - 1 OR count(DISTINCT ordinal) <> count(*)"
        )
        self.assert_counts_kept()

    def assert_counts_kept(self) -> None:
        """Assert that every kept count and digest equals the counted one."""
        for row in self.rows(
            "SELECT kind, counted.*, (SELECT coalesce(sum(tally.items), 0) FROM tally "
            "WHERE tally.collection = %(name)s AND tally.kind = kinds.kind) AS kept_items, "
            "(SELECT coalesce(sum(tally.digest), 0) FROM tally "
            "WHERE tally.collection = %(name)s AND tally.kind = kinds.kind) AS kept_digest "
            "FROM (VALUES ('raw_files'), ('crawled_pages'), ('documents'), ('removed')) AS kinds (kind) "
            "CROSS JOIN LATERAL counted_items(%(name)s, kinds.kind) AS counted",
            name=self.collection,
        ):
            assert (row["kept_items"], row["kept_digest"]) == (row["items"], row["digest"]), row
        for row in self.rows(
            "SELECT generation.entry_count, generation.text_count, count(entry.chunk_id) AS entries, "
            "count(DISTINCT chunk.embedding_hash) AS texts FROM generation "
            "LEFT JOIN search_entry entry ON entry.generation_id = generation.id "
            "LEFT JOIN chunk ON chunk.id = entry.chunk_id GROUP BY generation.id"
        ):
            assert (row["entry_count"], row["text_count"]) == (row["entries"], row["texts"]), row

    def close(self) -> None:
        if self._knowledge is not None:
            self._knowledge.release()  # the database is the fixture's to close
        if "web" in self.__dict__:
            self.web.__exit__()


def html(title: str, *paragraphs: str, links: Iterable[str] = (), head: str = "") -> str:
    """Return a small page."""
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs or (f"This is the page on {title}.",))
    anchors = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    return (
        f"<!doctype html><html><head><title>{title}</title>{head}</head>"
        f"<body><main><h1>{title}</h1>{text}<ul>{anchors}</ul></main></body></html>"
    )


NOBODY = 65534


@contextmanager
def without_privileges() -> Iterator[None]:
    """Let file permissions bind this process, which root's do not."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if before == 0:
            os.seteuid(before)

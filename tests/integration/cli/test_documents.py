"""What the commands about documents promise: `documents`, `show`, `remove` and `purge`."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sourcebook.command.app import app
from sourcebook.database.database import Database
from sourcebook.database.lock import collection_lock
from sourcebook.files.listing import file_uri
from tests.integration.cli.command import Ingest, configure, run, start

DOCUMENT = [
    *("document_id", "collection", "uri", "title", "kind", "media_type", "language", "version", "chunks", "state"),
    *("error", "failure_class", "attempts", "next_retry_at", "parked", "removed_at", "processing_since"),
    "processing_by",
    "taken_from",
    "link",
    *("bytes", "tokens", "tags", "created_at", "updated_at", "indexed_at"),
    *("boost", "curated_at", "curated_by", "curated_because"),
    "left_out",
]


class TestNextStep:
    def test_failures_are_the_next_step(self, boat: Path) -> None:
        """`sourcebook` alone counts collections, documents and failures, and names the command that shows these."""
        assert run().out.splitlines()[0] == "1 collection, 2 documents, 1 failed: sourcebook documents --failed"
        assert run("documents", "--failed").code == 0

    def test_search_is_the_next_step(self, boat: Path, ingest: Ingest) -> None:
        """Without failures the next step is to ask."""
        for name in ("broken.docx", "picture.psd"):
            (boat / "docs" / name).unlink()
        ingest(boat / "sourcebook.yaml")
        assert run().out.splitlines()[0] == '1 collection, 2 documents: sourcebook search "your question"'


class TestDocuments:
    def test_one_row_an_item(self, boat: Path) -> None:
        """Documents and files that did not become one, with exactly the promised keys."""
        rows = run("documents", "--json").json["documents"]
        assert all(list(row) == DOCUMENT for row in rows)
        states = {row["uri"].rpartition("/")[2]: (row["state"], row["chunks"]) for row in rows}
        assert states["battery.md"] == ("ready", 1)
        assert states["broken.docx"][0] == "failed"
        assert states["picture.psd"] == ("skipped", 0)
        assert next(row["document_id"] for row in rows if row["uri"].endswith("picture.psd")) is None

    def test_failed_has_reasons(self, boat: Path) -> None:
        """`--failed` lists what is not searchable as it lies there, each with its reason."""
        rows = run("documents", "--failed", "--json").json["documents"]
        assert sorted(row["state"] for row in rows) == ["failed", "skipped"]
        assert all(row["error"] for row in rows)
        assert "Photoshop" in run("documents", "--failed").out

    def test_removed_only_on_demand(self, boat: Path) -> None:
        """Removed documents are listed with `--removed` alone."""
        assert run("remove", "docs/battery.md").code == 0
        assert len(run("documents", "--json").json["documents"]) == 3
        rows = run("documents", "--removed", "--json").json["documents"]
        assert [row["uri"].rpartition("/")[2] for row in rows if row["state"] == "removed"] == ["battery.md"]


class TestShow:
    def test_by_id_uri_path_and_address(self, boat: Path) -> None:
        """One document by its id, its URI, its URI with an anchor, or the path of its file."""
        uri = file_uri(str(boat / "docs" / "battery.md"))
        by_path = run("show", "docs/battery.md", "--json").json
        assert list(by_path) == [*DOCUMENT, "text", "metadata", "given_tags", "given_metadata", "given_title"]
        for name in (
            uri,
            f"{uri}#winter",
            str(by_path["document_id"]),
            str(boat / "docs" / ".." / "docs" / "battery.md"),
            "battery.md",
            "battery.md#winter",
        ):
            assert run("show", name, "--json").json == by_path
        assert "two winters" in by_path["text"]
        (chunk,) = by_path["chunks"]
        assert by_path["text"][chunk["start_char"] : chunk["end_char"]].strip() == chunk["text"].strip()
        assert {"ordinal", "heading_path", "anchor", "page", "token_count"} <= set(chunk)

    def test_in_several_collections(self, boat: Path, ingest: Ingest) -> None:
        """Where several collections hold the document, one must be named; the refusal names them."""
        ingest(configure(boat, "boat", "ship"))
        ran = run("show", "docs/battery.md", "--json")
        assert (ran.code, ran.out) == (2, "")
        assert "boat, ship" in ran.err
        assert run("show", "docs/battery.md", "-c", "ship", "--json").json["collection"] == "ship"

    def test_by_the_end_of_a_path(self, boat: Path, ingest: Ingest, settle: Callable[[Path], None]) -> None:
        """Whole parts of a path find a document where no other one ends so; the refusal lists the candidates."""
        (boat / "docs" / "old").mkdir()
        for name in ("old/battery.md", "old/flat battery.md"):
            (boat / "docs" / name).write_text(f"# Old {name}\n")
            settle(boat / "docs" / name)
        ingest(boat / "sourcebook.yaml")
        ran = run("show", "battery.md")
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.splitlines()[1:] == ["  docs/battery.md", "  docs/old/battery.md"]
        assert run("show", "old/battery.md", "--json").json["title"] == "Old old/battery.md"
        assert run("show", "flat battery.md", "--json").json["title"] == "Old old/flat battery.md"
        assert run("show", "attery.md").code == 2
        assert run("show", "./battery.md").code == 2, "a path is a path"

    def test_what_is_no_document(self, boat: Path) -> None:
        """A file that is known but no document is refused with its reason."""
        ran = run("show", "docs/picture.psd")
        assert ran.code == 2
        assert "Photoshop" in ran.err
        assert run("show", "docs/nowhere.md").code == 2

    def test_for_people(self, boat: Path) -> None:
        """Facts, text and passages; nothing in the text obeys or is obeyed."""
        out = run("show", "docs/odd [red]name 'é'.txt").out
        assert "[bold]always[/bold]" in out
        assert "\x1b" not in out
        assert "passage 0:" in out


class TestRemoveAndPurge:
    def test_remove_and_undo(self, boat: Path, ingest: Ingest) -> None:
        """What is removed is not found any more; undone, the next ingest brings it back."""
        uri = file_uri(str(boat / "docs" / "battery.md"))
        (removed,) = run("remove", "battery.md", "--json").json["removed"]
        assert (removed["collection"], removed["uri"]) == ("boat", uri)
        assert run("search", "winters", "--mode", "keyword", "--json").json["results"] == []
        assert run("remove", "--undo", "battery.md", "--json").json == {"restored": [removed]}
        ingest(boat / "sourcebook.yaml")
        assert len(run("search", "winters", "--mode", "keyword", "--json").json["results"]) == 1
        assert run("remove", "docs/nowhere.md").code == 2

    def test_purge_asks(self, boat: Path) -> None:
        """Nothing is deleted without a yes, and a program must say so."""
        assert "nothing to delete" in run("purge").out
        run("remove", "docs/battery.md")
        assert run("purge", "--json").code == 2
        assert run("purge", "--dry-run", "--json").json["purged"]["documents"] == 1
        assert run("purge", stdin="n\n").code == 1
        assert run("purge", stdin="").code == 1
        assert "Deleted 1 document" in run("purge", stdin="y\n").out
        assert run("purge", "--yes", "--json").json == {
            "purged": dict.fromkeys(run("purge", "--dry-run", "--json").json["purged"], 0),
            "dry_run": False,
        }

    def test_interrupted_while_waiting(self, boat: Path, database: Database) -> None:
        """A purge waits for the ingest that is running and says so; Ctrl-C ends it with 130 and nothing is lost."""
        run("remove", "docs/battery.md")
        with collection_lock(database, "boat"):
            process = start("purge", "--yes")
            assert process.stderr is not None
            assert process.stderr.readline() == "Waiting for the running ingest of boat.\n"
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "Traceback" not in err
        assert run("purge", "--dry-run", "--json").json["purged"]["documents"] == 1


class TestWidths:
    @pytest.mark.parametrize("width", [80, 120, None])
    @pytest.mark.parametrize("command", ["status", "documents", "search", "documents --failed"])
    def test_no_word_is_broken(
        self, boat: Path, width: int | None, command: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """In a terminal a line is longer than it only where one word is; in a pipe no line is wrapped at all."""
        monkeypatch.setenv("NO_COLOR", "1")
        if width is None:
            monkeypatch.delenv("COLUMNS", raising=False)
        else:
            monkeypatch.setenv("COLUMNS", str(width))
        query = ("how long do the batteries last", "--mode", "keyword") if command == "search" else ()
        out = run(*command.split(), *query).out
        assert "\x1b" not in out
        uri = file_uri(str(boat / "docs" / ("battery.md" if command == "search" else "picture.psd")))
        words = [word.partition("#")[0].strip(":.") for word in out.split()]
        assert uri in words, "a URI stays whole"
        assert set(words) >= ({"batteries", "winters"} if command == "search" else {"Photoshop", "format"})
        if width is not None:
            assert all(len(line) <= width or len(line.split()) <= 2 for line in out.splitlines())
        elif command == "documents":
            rows = [line.split("\t") for line in out.splitlines()]
            assert (len(rows), {len(row) for row in rows}) == (5, {9})

    def test_pages_and_filters_of_documents(self, boat: Path) -> None:
        """`--limit` and `--offset` page through what the other options leave."""

        def named(*options: str) -> list[str]:
            rows = run("documents", "--json", *options).json["documents"]
            return [row["uri"].rpartition("/")[2] for row in rows]

        everything = named()
        assert [named("-n", "2"), named("-n", "2", "--offset", "2"), named("--offset", "3")] == [
            everything[:2], everything[2:], everything[3:],
        ]  # fmt: skip
        assert named("--state", "ready", "--text", "BATTER") == ["battery.md"]
        assert named("--text", "[red]name") == [name for name in everything if name.startswith("odd")]
        assert named("--state", "failed", "--state", "skipped") == ["broken.docx", "picture.psd"]
        assert named("--kind", "page") == []
        assert (
            "More: 4 in all; the same with --offset 2"
            in CliRunner().invoke(app, ["documents", "-n", "2"], env={"COLUMNS": "80"}).stdout
        )

"""What the `sourcebook` command promises to the person and to the program that runs it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sourcebook.cli.app import app
from sourcebook.database.database import Database
from sourcebook.database.lock import collection_lock
from sourcebook.files.listing import file_uri
from tests.checkout import CHECKOUT

Ingest = Callable[[Path], int]

RESULT = [
    *("document_id", "collection", "uri", "title", "heading_path", "anchor", "page", "start_seconds"),
    *("end_seconds", "ordinal", "text", "score", "vector_rank", "keyword_rank", "version", "vector_score"),
    *("keyword_score", "rerank_score", "kind", "media_type", "language", "tags", "metadata", "start_char"),
    *("end_char", "parts", "also", "time_span", "context_text"),
]
ANSWER = [
    *("results", "took_ms", "dropped_legs", "total_candidates", "offset", "next_offset", "notes", "explanation"),
]
DOCUMENT = [
    *("document_id", "collection", "uri", "title", "kind", "media_type", "language", "version", "chunks", "state"),
    "error",
]
PROGRAM = [sys.executable, "-c", "from sourcebook.cli import main; main()"]


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(*arguments: str, stdin: str = "") -> Ran:
    """Run the command in this process."""
    result = CliRunner().invoke(app, list(arguments), input=stdin)
    assert "Traceback" not in result.output
    return Ran(result.exit_code, result.stdout, result.stderr)


def start(*arguments: str) -> "subprocess.Popen[str]":
    """Start the command as a process of its own."""
    here = str(CHECKOUT)
    return subprocess.Popen(
        [*PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": here},
    )


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settle: Callable[[Path], None]) -> Path:
    """A folder with a configuration of one collection, as the current folder; no knowledge base yet."""
    for name in ("SOURCEBOOK_CONFIG", "SOURCEBOOK_HOME", "SOURCEBOOK_DATABASE_URL", "SOURCEBOOK_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "battery.md").write_text("# Batteries\n\n## Winter\n\nThe batteries last two winters.\n")
    (docs / "odd [red]name 'é'.txt").write_text("Drop the anchor in \x1b[31mfive\x07 fathoms [bold]always[/bold].\n")
    (docs / "picture.svg").write_bytes(b"<svg xmlns='http://www.w3.org/2000/svg'/>")
    (docs / "broken.docx").write_bytes(b"PK\x03\x04 this is no archive")
    for file in docs.iterdir():
        settle(file)
    configure(tmp_path, "boat")
    return tmp_path


@pytest.fixture
def here(empty: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, with a knowledge base in which nothing was done yet."""
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", database.url)
    return empty


@pytest.fixture
def boat(here: Path, ingest: Ingest) -> Path:
    """The same, ingested."""
    ingest(here / "sourcebook.yaml")
    return here


def named(*arguments: str) -> list[str]:
    """Run a search; return the file names of what it finds."""
    return [result["uri"].rpartition("/")[2] for result in run("search", "--json", *arguments).json["results"]]


def write_log(folder: Path, settle: Callable[[Path], None]) -> None:
    """Write a document of five passages, each of which holds `harbour`, and the second `day2` alone."""
    days = (
        f"## Day {day}\n\nThe harbour, day{day}. " + "The wind was light and the sea calm. " * 25 for day in range(1, 6)
    )
    log = folder / "docs" / "log.md"
    log.write_text("# Log\n\n" + "\n\n".join(days))
    settle(log)


def configure(folder: Path, *collections: str) -> Path:
    path = folder / "sourcebook.yaml"
    path.write_text("collections:\n" + "".join(f"  {name}:\n    files: [{{root: ./docs}}]\n" for name in collections))
    return path


class TestApply:
    def test_says_what_changed(self, here: Path) -> None:
        """Each collection is added, changed, unchanged or removed, and the next step is named."""
        unchanged: dict[str, list[str]] = {"changed": [], "unchanged": [], "warnings": []}
        assert run("apply", "--json").json == {"added": ["boat"], "removed": [], **unchanged}
        (here / "other.yaml").write_text("collections:\n  ship:\n    files: [{root: ./docs}]\n")
        applied = run("apply", "other.yaml", "--json")
        assert applied.json == {"added": ["ship"], "removed": ["boat"], **unchanged}
        human = run("apply")
        assert human.code == 0
        assert "Next: sourcebook ingest" in human.out

    def test_a_mistake_is_named_with_its_line(self, here: Path) -> None:
        """A wrong file ends with exit code 2 and names line and key on stderr; stdout stays empty."""
        (here / "sourcebook.yaml").write_text("collections:\n  boat:\n    file: []\n")
        ran = run("apply", "--json")
        assert (ran.code, ran.out) == (2, "")
        assert "line 3" in ran.err
        assert "did you mean files?" in ran.err


class TestWithoutKnowledgeBase:
    def test_looking_makes_nothing(self, empty: Path) -> None:
        """Before the first ingest, looking answers with nothing, and makes no database."""
        assert run("status", "--json").json == {"collections": [], "configuration_error": None}
        assert run("documents", "--json").json == {"documents": []}
        assert run("search", "anchor", "--json").json["results"] == []
        assert run("purge", "--yes", "--json").json["purged"]["documents"] == 0
        assert run("show", "docs/battery.md").code == 2
        assert run("remove", "docs/battery.md").code == 2
        assert run("status", "-c", "boat").code == 2
        assert not (empty / ".sourcebook").exists()

    def test_no_configuration(self, empty: Path) -> None:
        """Where nothing says where the knowledge base is, the command says so and makes none."""
        (empty / "sourcebook.yaml").unlink()
        ran = run("status")
        assert (ran.code, ran.out) == (2, "")
        assert "There is no configuration at" in ran.err

    def test_unreachable_database_keeps_the_password(self, empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A database out of reach ends with 1 and a reason, without the password, even when debugging."""
        for url in ("postgresql://u:hidden-word@127.0.0.1:1/x", "postgres//u:hidden-word@127.0.0.1/x"):
            monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", url)
            ran = run("status", "--json")
            assert (ran.code, ran.out) == (1, "")
            assert ran.err.startswith("sourcebook: the database")
            monkeypatch.setenv("SOURCEBOOK_DEBUG", "1")
            debugged = CliRunner().invoke(app, ["status"])
            assert "Traceback" in debugged.stderr
            assert "hidden-word" not in ran.err + debugged.output + run("doctor", "--json").out
            monkeypatch.delenv("SOURCEBOOK_DEBUG")


class TestStatus:
    def test_counts_and_reasons(self, boat: Path) -> None:
        """Per collection: counts, generation and model, and every item that is not searchable with its reason."""
        (status,) = run("status", "--json").json["collections"]
        counts = {name: status[name] for name in ("documents", "chunks", "embeddings", "failed", "skipped", "stale")}
        assert counts == {"documents": 3, "chunks": 2, "embeddings": 2, "failed": 1, "skipped": 1, "stale": 0}
        assert (status["name"], status["removed"], status["embedding_model"]) == ("boat", 0, "all-MiniLM-L6-v2")
        assert isinstance(status["generation"], int)
        problems = {problem["uri"].rpartition("/")[2]: problem for problem in status["problems"]}
        assert {name: problem["state"] for name, problem in problems.items()} == {
            "broken.docx": "failed",
            "picture.svg": "skipped",
        }
        assert problems["broken.docx"]["next_retry_at"] is None, "it waits for a change"
        assert all(problem["error"] for problem in problems.values())

    def test_stale_without_an_ingest(self, boat: Path) -> None:
        """What changed in a source since the last ingest is counted, without anything being done about it."""
        (boat / "docs" / "battery.md").write_text("# Batteries\n\nThree winters.\n")
        (boat / "docs" / "new.md").write_text("# New\n")
        assert [run("status", "--json").json["collections"][0]["stale"] for _ in range(2)] == [2, 2]
        assert "2 items are stale" in run("status").out

    def test_a_source_that_is_gone(self, boat: Path, ingest: Ingest) -> None:
        """A folder that cannot be listed is a failure with a reason; its documents stay."""
        (boat / "docs").rename(boat / "unmounted")
        assert "does not exist or is not mounted" in run("status").out
        ingest(boat / "sourcebook.yaml")
        (status,) = run("status", "--json").json["collections"]
        assert (status["documents"], status["failed"]) == (3, 2)
        assert "not mounted" in status["sources"][0]["listing_error"]
        rows = run("documents", "--failed", "--json").json["documents"]
        assert [(row["kind"], row["state"]) for row in rows if row["uri"] == str(boat / "docs")] == [
            ("source", "failed")
        ]

    def test_unknown_collection(self, boat: Path) -> None:
        """A collection that does not exist is wrong usage, and the ones that do are named."""
        ran = run("status", "-c", "ship")
        assert (ran.code, ran.out) == (2, "")
        assert ran.err == "sourcebook: there is no collection 'ship'; there is boat\n"


class TestDocuments:
    def test_one_row_an_item(self, boat: Path) -> None:
        """Documents and files that did not become one, with exactly the promised keys."""
        rows = run("documents", "--json").json["documents"]
        assert all(list(row) == DOCUMENT for row in rows)
        states = {row["uri"].rpartition("/")[2]: (row["state"], row["chunks"]) for row in rows}
        assert states["battery.md"] == ("ready", 1)
        assert states["broken.docx"][0] == "failed"
        assert states["picture.svg"] == ("skipped", 0)
        assert next(row["document_id"] for row in rows if row["uri"].endswith("picture.svg")) is None

    def test_failed_has_reasons(self, boat: Path) -> None:
        """`--failed` lists what is not searchable as it lies there, each with its reason."""
        rows = run("documents", "--failed", "--json").json["documents"]
        assert sorted(row["state"] for row in rows) == ["failed", "skipped"]
        assert all(row["error"] for row in rows)
        assert "SVG" in run("documents", "--failed").out

    def test_removed_only_on_demand(self, boat: Path) -> None:
        """Removed documents are listed with `--removed` alone."""
        assert run("remove", "docs/battery.md").code == 0
        assert len(run("documents", "--json").json["documents"]) == 3
        rows = run("documents", "--removed", "--json").json["documents"]
        assert [row["uri"].rpartition("/")[2] for row in rows if row["state"] == "removed"] == ["battery.md"]


class TestSearch:
    def test_for_programs(self, boat: Path) -> None:
        """Each result has exactly the promised keys."""
        answer = run("search", "battery", "winters", "--mode", "keyword", "-c", "boat", "-n", "1", "--json").json
        assert list(answer) == ANSWER
        assert answer["took_ms"] > 0
        assert (answer["next_offset"], answer["notes"], answer["explanation"]) == (None, [], None)
        (result,) = answer["results"]
        assert list(result) == RESULT
        assert result["heading_path"] == ["Batteries", "Winter"]
        assert (result["vector_rank"], result["keyword_rank"], result["version"]) == (None, 1, 1)
        assert (result["kind"], result["parts"], result["also"]) == ("file", [], [])

    def test_for_people(self, boat: Path) -> None:
        """A hit shows title, heading path, address with anchor and score."""
        out = run("search", "winters", "--mode", "keyword").out
        assert "1. Batteries › Winter" in out
        assert f"{file_uri(str(boat / 'docs' / 'battery.md'))}#" in out
        assert "score 1.0000 (keyword rank 1), boat" in out

    def test_documents_do_not_control_the_terminal(self, boat: Path) -> None:
        """Escape sequences in a document are not printed, and what looks like markup is text."""
        out = run("search", "anchor", "--mode", "keyword").out
        assert "five fathoms [bold]always[/bold]" in " ".join(out.split())
        assert not {"\x1b", "\x07"} & set(out)

    def test_odd_queries(self, boat: Path) -> None:
        """An odd query is refused clearly or answered."""
        for query, code in (("", 2), (" ", 2), ("x" * 100_000, 2), ("\udcff", 0), ("🙂", 0)):
            ran = run("search", "--mode", "keyword", "--json", "--", query)
            assert ran.code == code, query[:10]
            assert ran.out == "" if code else ran.json["results"] == []
            assert "something went wrong" not in ran.err

    def test_operators_of_other_languages_are_words(self, boat: Path) -> None:
        """Quotes without their other half and operators of any other language are nothing but text."""
        for query in ("' OR 1=1 --", "anchor & | ! <-> (", "%(x)s %s {}", '"unclosed', "a\\' \\"):
            assert run("search", "--mode", "keyword", "--json", "--", query).code == 0

    def test_a_query_may_demand(self, boat: Path) -> None:
        """A phrase, a word to leave out and a word of the title hold; `--literal` takes the same as text."""
        for query, found in (
            ('"two winters"', ["battery.md"]),
            ('"winters two"', []),
            ("winters -batteries", []),
            ("-winters anchor", ["odd%20%5Bred%5Dname%20'%C3%A9'.txt"]),
            ("title:batteries last", ["battery.md"]),
            ("title:anchor last", []),
        ):
            assert named("--mode", "keyword", "--", query) == found, query
        assert named("--mode", "keyword", "--literal", '"winters two"') == ["battery.md"]

    def test_misspelt(self, boat: Path) -> None:
        """With `--typos` a word that no passage holds stands for the nearest one."""
        assert named("--mode", "keyword", "fathmos") == []
        assert len(named("--mode", "keyword", "--typos", "fathmos")) == 1

    def test_filtered(self, boat: Path) -> None:
        """Filters narrow a search; where they let nothing through, the leg says so."""
        query = ("--mode", "keyword", "winters anchor")
        assert len(named(*query)) == 2
        assert named(*query, "--filter", "media_type=text/markdown") == ["battery.md"]
        assert len(named(*query, "--filter", "kind=file", "--filter", "kind=page")) == 2
        out = run("search", *query, "--filter", "kind=page").out
        assert out.startswith("No passage was found.")
        assert "Without the keyword leg: no passage that fulfils the filters holds a word of the query." in out

    def test_pages(self, boat: Path, ingest: Ingest, settle: Callable[[Path], None]) -> None:
        """The next page is named, goes on with the ranks, and repeats nothing; behind the last one that is said."""
        write_log(boat, settle)
        ingest(boat / "sourcebook.yaml")
        query = ("search", "--mode", "keyword", "harbour", "-n", "2")
        first = run(*query).out
        assert "More: the same with --offset 2\n" in first
        second = run(*query, "--offset", "2").out
        assert second.startswith("3. Log")
        ordinals = [
            [result["ordinal"] for result in run(*query, "--offset", offset, "--json").json["results"]]
            for offset in ("0", "2", "4")
        ]
        assert [len(page) for page in ordinals] == [2, 2, 1]
        assert sorted(ordinal for page in ordinals for ordinal in page) == [0, 1, 2, 3, 4]
        assert "More:" not in run(*query, "--offset", "4").out
        assert "the search found 5" in run(*query, "--offset", "6").out

    def test_context(self, boat: Path, ingest: Ingest, settle: Callable[[Path], None]) -> None:
        """Neighbours stand around the marked hit; grouped by document, one result says how many more there are."""
        write_log(boat, settle)
        ingest(boat / "sourcebook.yaml")
        out = run("search", "--mode", "keyword", "day2", "--neighbours", "1").out
        before, _, rest = out.partition("\n > ")
        assert "day1" not in before, "its end is shown"
        assert before.rstrip().endswith("calm.")
        assert rest.startswith("The harbour, day2.")
        assert "day3" in rest
        assert "\n > " not in rest
        grouped = run("search", "--mode", "keyword", "harbour", "--group-by", "document")
        assert "and 4 other passages of this document" in grouped.out
        assert "\n2. " not in grouped.out

    def test_explained(self, boat: Path) -> None:
        """What was looked for, how the legs were joined, and PostgreSQL's plans, for people and for programs."""
        out = run("search", "--mode", "keyword", "winters", "--explain").out
        assert "keyword    1 candidates in" in out
        assert "keyword_entry" in out
        told = run("search", "--mode", "keyword", "winters", "--explain", "--json").json["explanation"]
        assert [leg["leg"] for leg in told["legs"]] == ["keyword"]

    def test_wrong_usage(self, boat: Path) -> None:
        """What makes no sense ends with 2, before any model is loaded."""
        for arguments in (
            ["-n", "0"],
            ["-n", "2000"],
            ["--mode", "psychic"],
            ["-c", "ship"],
            ["-n", "many"],
            ["--offset", "x"],
        ):
            ran = run("search", "anchor", "--json", *arguments)
            assert (ran.code, ran.out) == (2, ""), arguments
            assert ran.err

    def test_hybrid_as_a_process(self, boat: Path) -> None:
        """The whole command, with the model: found by vector search although no word is the same."""
        process = start("search", "how long does the power supply endure", "--json")
        out, err = process.communicate(timeout=300)
        assert (process.returncode, err) == (0, "")
        best = json.loads(out)["results"][0]
        assert best["uri"].endswith("battery.md")
        assert best["vector_rank"] == 1


class TestShow:
    def test_by_id_uri_path_and_address(self, boat: Path) -> None:
        """One document by its id, its URI, its URI with an anchor, or the path of its file."""
        uri = file_uri(str(boat / "docs" / "battery.md"))
        by_path = run("show", "docs/battery.md", "--json").json
        assert list(by_path) == [*DOCUMENT, "text", "metadata", "tags"]
        for name in (
            uri,
            f"{uri}#winter",
            str(by_path["document_id"]),
            str(boat / "docs" / ".." / "docs" / "battery.md"),
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

    def test_what_is_no_document(self, boat: Path) -> None:
        """A file that is known but no document is refused with its reason."""
        ran = run("show", "docs/picture.svg")
        assert ran.code == 2
        assert "SVG" in ran.err
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
        (removed,) = run("remove", uri, "--json").json["removed"]
        assert (removed["collection"], removed["uri"]) == ("boat", uri)
        assert run("search", "winters", "--mode", "keyword", "--json").json["results"] == []
        assert run("remove", "--undo", "docs/battery.md", "--json").json == {"restored": [removed]}
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


class TestProcess:
    def test_starts_quickly(self, boat: Path) -> None:
        """Looking loads no model, no document parser and no Dagster."""
        code = (
            "import sys, sourcebook.cli\n"
            "try: sourcebook.cli.main()\n"
            "finally: print(sorted({'torch', 'docling', 'dagster', 'numpy.f2py', 'transformers'} & set(sys.modules)),"
            " file=sys.stderr)"
        )
        for arguments in (
            ["status"],
            ["documents"],
            ["show", "docs/battery.md"],
            ["remove", "docs/battery.md"],
            ["purge"],
        ):
            done = subprocess.run(
                [sys.executable, "-c", code, *arguments],
                capture_output=True,
                text=True,
                check=False,
                input="n\n",
                env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
            )
            assert done.stderr.splitlines()[-1] == "[]", (arguments, done.stderr)

    def test_reader_that_leaves(self, boat: Path) -> None:
        """`sourcebook documents | head -1` ends without a traceback."""
        process = start("documents", "--json")
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        with process.stderr as errors:
            assert errors.read() == ""
        assert process.wait(timeout=60) == 1

    def test_terminal_without_unicode(self, boat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where the terminal is ASCII, JSON is escaped and text is printed as far as it goes."""
        monkeypatch.setenv("PYTHONIOENCODING", "ascii")
        process = start("search", "winters", "--mode", "keyword")
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        assert "Batteries" in out

    def test_status_is_quick(self, boat: Path) -> None:
        """The whole process takes well under a second of computing."""
        before = os.times()
        for _ in range(3):
            start("status").communicate(timeout=60)
        after = os.times()
        assert (after.children_user - before.children_user) / 3 < 1.0


class TestDoctor:
    def test_healthy(self, boat: Path) -> None:
        """On a machine that has everything each check is ok, with versions."""
        ran = run("doctor", "--json")
        checks = {check["name"]: check for check in ran.json["checks"]}
        assert ran.code == 0, ran.out
        assert set(checks) >= {"Python", "configuration", "state folder", "disk", "database", "pgvector", "schema"}
        assert all(list(check) == ["name", "state", "detail", "remedy"] for check in checks.values())
        assert checks["database"]["detail"].startswith("PostgreSQL 18")
        assert checks["model all-MiniLM-L6-v2"]["state"] == "ok"

    def test_what_is_wrong_has_a_remedy(self, empty: Path) -> None:
        """A broken configuration fails with what to do, and looking makes nothing."""
        (empty / "sourcebook.yaml").write_text("collections: 7\n")
        ran = run("doctor", "--json")
        wrong = [check for check in ran.json["checks"] if check["state"] == "fail"]
        assert ran.code == 1
        assert [check["name"] for check in wrong] == ["configuration"]
        assert all(check["remedy"] for check in wrong)
        assert not (empty / ".sourcebook").exists()
        assert "→ edit" in run("doctor").out

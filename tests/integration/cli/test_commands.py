"""What the `sourcebook` command promises to the person and to the program that runs it."""

import os
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sourcebook.command.app import app
from tests.checkout import CHECKOUT
from tests.integration.cli.command import Ingest, run, start


class TestApply:
    def test_says_what_changed(self, here: Path) -> None:
        """Each collection is added, changed, unchanged or removed, and the next step is named."""
        unchanged: dict[str, Any] = {"changed": [], "groups": [], "unchanged": [], "warnings": [], "rebuilt": {}}
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
        assert run("status", "--json").json == {"collections": [], "configuration_error": None, "replica": None}
        assert run("documents", "--json").json == {"documents": []}
        assert run("search", "anchor", "--json").json["results"] == []
        assert run("purge", "--yes", "--json").json["purged"]["documents"] == 0
        assert run("show", "docs/battery.md").code == 2
        assert run("remove", "docs/battery.md").code == 2
        assert run("status", "-c", "boat").code == 2
        assert not (empty / ".sourcebook").exists()

    def test_a_plan_and_a_dry_run_leave_nothing(self, empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The first ingest is planned as any other, in a database that is gone afterwards."""
        with tempfile.TemporaryDirectory(prefix="s-") as places:  # short, for the socket of the server
            monkeypatch.setattr(tempfile, "tempdir", places)
            (plan,) = run("plan", "boat", "--json").json["collections"]
            assert run("apply", "--dry-run", "--json").json["added"] == ["boat"]
            assert not list(Path(places).iterdir())
        assert plan["counts"] == {"new": 4}
        assert not (empty / ".sourcebook").exists()

    def test_no_configuration(self, empty: Path) -> None:
        """Where nothing says where the knowledge base is, the command says so and makes none."""
        (empty / "sourcebook.yaml").unlink()
        ran = run("status")
        assert (ran.code, ran.out) == (2, "")
        assert "There is no configuration at" in ran.err

    @pytest.mark.usefixtures("untried_parts")
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
            "picture.psd": "skipped",
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


class TestProcess:
    def test_starts_quickly(self, boat: Path) -> None:
        """Looking loads no model, no document parser and no Dagster."""
        code = (
            "import sys, sourcebook.command\n"
            "try: sourcebook.command.main()\n"
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

    @pytest.mark.usefixtures("untried_parts")
    def test_what_is_wrong_has_a_remedy(self, empty: Path) -> None:
        """A broken configuration fails with what to do, and looking makes nothing."""
        (empty / "sourcebook.yaml").write_text("collections: 7\n")
        ran = run("doctor")
        lines = ran.out.splitlines()
        wrong = [(line, remedy) for line, remedy in pairwise(lines) if line.startswith("✗")]
        assert ran.code == 1
        ((failed, remedy),) = wrong
        assert failed.startswith("✗ configuration: ")
        assert remedy.startswith("    → edit ")
        assert not (empty / ".sourcebook").exists()

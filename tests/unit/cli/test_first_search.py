"""The first search of all: there is no knowledge base, and the answer says what to do."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sourcebook.command.app import app


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SOURCEBOOK_CONFIG", "SOURCEBOOK_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path / "home"))


def test_it_says_what_to_do(tmp_path: Path) -> None:
    """With the folder that is empty; `--json` has the sentence as a note."""
    said = CliRunner().invoke(app, ["search", "tide"])
    assert (said.exit_code, said.stdout) == (
        0, f"Nothing was ingested into {tmp_path / 'home'} yet. Begin with  sourcebook ingest FOLDER\n",
    )  # fmt: skip
    found = json.loads(CliRunner().invoke(app, ["search", "tide", "-n", "3", "--json"]).stdout)
    assert (found["results"], found["notes"]) == ([], [said.stdout.strip()])
    (tmp_path / "sourcebook.yaml").write_text("collections: {docs: {files: [{root: .}]}}")
    assert CliRunner().invoke(app, ["search", "tide"]).stdout.endswith("Begin with  sourcebook ingest\n")
    assert CliRunner().invoke(app, ["search", "tide", "-c", "docs"]).exit_code == 2
    assert not (tmp_path / "home").exists()


def test_it_imports_nothing_slow() -> None:
    """Neither the database's driver nor the settings' checks nor a model: half a second is enough for the process."""
    code = (
        "import sys; sys.argv = ['sourcebook', 'search', 'tide']\n"
        "from sourcebook.command import main\n"
        "try:\n    main()\nexcept SystemExit: pass\n"
        "print([name for name in ('psycopg', 'pydantic', 'numpy', 'torch', 'rich', 'dagster') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[1:] == ["[]"]


def test_a_search_by_words_imports_no_numpy() -> None:
    """Only vectors need it: it would take a good part of a keyword search's first answer."""
    code = (
        "import sys, sourcebook.search.run\n"
        "print({'numpy', 'sourcebook.embedding.multilingual_e5'} & sys.modules.keys())"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"

"""`init` and `add`: a configuration from nothing, without a database."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sourcebook.command.app import app
from sourcebook.config.loading import load_configuration


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SOURCEBOOK_CONFIG", "SOURCEBOOK_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs: old").mkdir()


def run(*arguments: str, stdin: str = "", code: int = 0) -> str:
    """Run the command and return all that it prints."""
    result = CliRunner().invoke(app, list(arguments), input=stdin)
    assert result.exit_code == code, result.output
    return result.output


def test_the_program_alone_says_how_to_begin(tmp_path: Path) -> None:
    """In an empty folder two lines say how to begin, and nothing is made; a mistake in the file is said instead."""
    said = run()
    assert [line for line in said.splitlines() if "sourcebook ingest ./docs" in line or "sourcebook search" in line]
    assert [path.name for path in tmp_path.iterdir()] == ["docs: old"]
    (tmp_path / "sourcebook.yaml").write_text("collections: {a: {files: [{rot: ./docs}]}}\n")
    assert "rot" in run()
    assert list(tmp_path.glob(".sourcebook")) == []


def test_init_asks_three_questions(tmp_path: Path) -> None:
    """The answers are in the file, which has comments; a second `init` changes nothing."""
    path = tmp_path / "sourcebook.yaml"
    said = run("init", stdin="./docs: old\nleaves\n**/*.md, *.txt\n")
    assert said.count("?") == 3
    (source,) = load_configuration(path).collections["leaves"].files
    assert (source.root, source.include) == ("./docs: old", ("**/*.md", "*.txt"))
    before = path.read_text()
    assert before.count("#") > 5
    assert "exists already" in run("init", "--yes", code=2)
    assert path.read_text() == before


def test_init_takes_a_site_or_nothing_at_all(tmp_path: Path) -> None:
    """`--yes` asks nothing; a site has the host's name and a number of pages."""
    run("init", "https://docs.example.com/", stdin="\n20\n")
    (site,) = load_configuration().collections["docs.example.com"].sites
    assert (site.url, site.max_pages) == ("https://docs.example.com/", 20)
    (tmp_path / "sourcebook.yaml").unlink()
    assert "?" not in run("init", "--yes")
    ((name, settings),) = load_configuration().collections.items()
    assert (name, settings.files[0].location) == (tmp_path.name.strip("_-."), str(tmp_path))
    assert "sourcebook.yaml" in settings.files[0].exclude


@pytest.mark.parametrize("answers", ["./missing\n\n\n", "\nno name!\n\n", "\n\n../up\n"])
def test_init_refuses_a_wrong_answer(tmp_path: Path, answers: str) -> None:
    """The error names the answer, and no file is left."""
    said = run("init", stdin=answers, code=2)
    assert answers.strip() in said
    assert not (tmp_path / "sourcebook.yaml").exists()


def test_add_makes_the_file_and_adds_once(tmp_path: Path) -> None:
    """A second `add` of the same says so; a name in front of a collection's is a path here."""
    assert "to the collection docs-old in" in run("add", "docs: old")
    before = (tmp_path / "sourcebook.yaml").read_text()
    assert "has docs: old already" in run("add", "docs: old")
    assert (tmp_path / "sourcebook.yaml").read_text() == before
    assert '"added": true' in run("add", "https://example.com/", "-c", "web", "--json")
    assert list(load_configuration().collections) == ["docs-old", "web"]
    assert "no file or folder ./web" in run("add", "web", code=2)

"""Folders, files and URLs of a command line become sources in `sourcebook.yaml`."""

from pathlib import Path

import pytest

from sourcebook.admin.additions import add_named, host_collection
from sourcebook.config.loading import load_configuration
from sourcebook.config.names import collection_name, nearest
from sourcebook.errors import ConfigurationError


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a configuration in an empty current folder with two folders of documents."""
    monkeypatch.chdir(tmp_path)
    for folder in ("docs", "old/docs"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.md").write_text("# A\n")
        (tmp_path / folder / "b.md").write_text("# B\n")
    return tmp_path / "sourcebook.yaml"


def named(path: Path, *arguments: str, collection: str | None = None) -> list[str]:
    """Add arguments and return the collections that they name."""
    found = add_named(path, arguments, home=path.parent / ".sourcebook", collection=collection)
    return [each.collection for each in found]


def roots(path: Path) -> dict[str, list[str]]:
    """Return the sources of each collection, as the file has them."""
    known = load_configuration(path).collections
    return {name: [*(f.root for f in each.files), *(s.url for s in each.sites)] for name, each in known.items()}


def test_a_folder_becomes_a_collection_of_its_name(path: Path) -> None:
    """A file is made where there is none; the same folder again, in any spelling, changes nothing."""
    assert named(path, "./docs") == ["docs"]
    assert path.read_text() == "collections:\n  docs:\n    files:\n      - root: ./docs\n"
    before = path.stat()
    for spelling in ("./docs", "docs", "docs/", str(path.parent / "docs"), "./old/../docs", "docs/a.md"):
        assert named(path, spelling) == ["docs"]
    assert path.stat().st_ino == before.st_ino, "the file was not even written again"


def test_comments_and_order_stay(path: Path) -> None:
    """Only new lines are added to a file that a person wrote."""
    before = "# Ours.\ncollections:\n  handbook:   # the first\n    files:\n    - root: ./old\n      tags: ['a b']\n"
    path.write_text(before)
    assert named(path, "./docs") == ["docs"]
    assert path.read_text().startswith(before)
    assert roots(path) == {"handbook": ["./old"], "docs": ["./docs"]}


def test_a_collections_name_wins_over_a_folder(path: Path) -> None:
    """A word that is both means the collection; a slash says folder, which gets a name that is free."""
    path.write_text("collections:\n  docs:\n    files: [{root: ./old/docs}]\n")
    assert named(path, "docs") == ["docs"]
    assert roots(path) == {"docs": ["./old/docs"]}
    (name,) = named(path, "./docs")
    assert name == f"{collection_name(path.parent.name)}-docs"
    assert roots(path) == {"docs": ["./old/docs"], name: ["./docs"]}


def test_files_of_a_folder_share_its_collection(path: Path) -> None:
    """Several files are sources of one collection with the name of their folder."""
    assert named(path, "docs/a.md", "./docs/b.md") == ["docs", "docs"]
    assert roots(path) == {"docs": ["./docs/a.md", "./docs/b.md"]}
    assert named(path, "docs") == ["docs"]


def test_a_file_that_a_pattern_leaves_out_is_added(path: Path) -> None:
    """Whoever names a file wants it, also where the folder's patterns exclude it."""
    path.write_text('collections:\n  texts:\n    files: [{root: ./docs, include: ["**/*.txt"]}]\n')
    assert named(path, "docs/a.md") == ["docs"]
    assert roots(path) == {"texts": ["./docs"], "docs": ["./docs/a.md"]}


def test_the_current_folder_leaves_out_what_is_sourcebooks_own(path: Path) -> None:
    """The configuration is no document."""
    assert named(path, ".") == [collection_name(path.parent.name)]
    (source,) = next(iter(load_configuration(path).collections.values())).files
    assert (source.root, source.exclude) == (".", ("sourcebook.yaml", ".sourcebook"))


def test_a_url_becomes_a_collection_of_its_host(path: Path) -> None:
    """A site that some collection has is that collection's, whatever its spelling."""
    assert named(path, "https://docs.example.com/guide/") == ["docs.example.com"]
    assert named(path, "https://DOCS.example.com/guide/") == ["docs.example.com"]
    assert named(path, "https://docs.example.com/faq/", "./docs", collection="other") == ["other", "other"]
    assert roots(path) == {
        "docs.example.com": ["https://docs.example.com/guide/"],
        "other": ["./docs", "https://docs.example.com/faq/"],
    }
    assert host_collection(path, "https://docs.example.com/faq/") == "other"
    assert host_collection(path, "http://127.0.0.1:8000/") == "127.0.0.1"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("./docs", "./dcos"), "no file or folder ./dcos"),
        (("./docs", "handbok"), "did you mean handbook?"),
        (("./docs", "http://"), "line"),
    ],
)
def test_an_argument_that_names_nothing_changes_nothing(path: Path, arguments: tuple[str, ...], told: str) -> None:
    """The other arguments are not added either."""
    before = "collections: {handbook: {files: [{root: ./old}]}}\n"
    path.write_text(before)
    with pytest.raises(ConfigurationError) as caught:
        named(path, *arguments)
    assert told in str(caught.value)
    assert path.read_text() == before


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("My Documents", "My-Documents"),
        ("Übungen", "Ubungen"),
        ("..hidden..", "hidden"),
        ("a..b", "a.b"),
        ("文書", "documents"),
        ("x" * 80, "x" * 63),
    ],
)
def test_every_folder_gives_a_name(text: str, name: str) -> None:
    """Names keep to the rule of names, whatever a folder is called."""
    assert collection_name(text) == name


def test_nearest_is_near() -> None:
    """A misspelt name finds its own; a different word finds none."""
    assert nearest("Handbok", ["boat", "handbook"]) == "handbook"
    assert nearest("weather", ["boat", "handbook"]) is None


@pytest.mark.parametrize(
    "url",
    [
        "git+https://git.example.com/org/handbook",
        "git+ssh://git@git.example.com/org/handbook.git",
        "ssh://git@git.example.com/org/handbook.git",
        "https://git.example.com/org/handbook.git",
        "git@git.example.com:org/handbook.git",
    ],
)
def test_the_url_of_a_repository_makes_a_repository(tmp_path: Path, url: str) -> None:
    """However git writes it; the second time, the collection has it already."""
    path = tmp_path / "sourcebook.yaml"
    (named,) = add_named(path, [url], home=tmp_path / ".sourcebook")
    assert named.collection == "handbook"
    (repository,) = load_configuration(path).collections["handbook"].repositories
    assert repository.url == url.removeprefix("git+")
    assert add_named(path, [url], home=tmp_path / ".sourcebook")[0].source is None

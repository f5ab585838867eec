"""Whatever lies in a folder: each file ends as content or as a line with the reason, and all others are searchable."""

import os
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from sourcebook import KnowledgeBase
from sourcebook.errors import QueryError
from sourcebook.files.listing import file_uri
from tests.acceptance.workplace import Json, Workplace

DAMAGED = BytesIO()
with zipfile.ZipFile(DAMAGED, "w") as archive:
    archive.writestr("[Content_Types].xml", "<Types/>")
    archive.writestr("word/document.xml", "<w:document")

SEARCHABLE = {
    "invalid-utf8.md": b"# Pier\n\nThe keeper wrote \xff\xfe here.\n",
    "nul.txt": b"The keeper left a \x00 mark.\n",
    "latin.txt": "Der keeper sah die Küste.\n".encode("latin-1"),
    "text.pdf": b"The keeper called this a PDF.\n",
    'it\'s "quoted".md': b"The keeper quotes.\n",
    "'; DROP TABLE document; --.md": b"The keeper drops no table.\n",
    "%(collection)s {0} $1 \\x.md": b"The keeper formats.\n",
    "two\nlines.md": b"The keeper breaks lines.\n",
    "emoji 🌊.md": b"The keeper waves.\n",
    "!!python object.yaml": b"keeper: !!python/object/apply:os.system ['touch owned']\n",
}
SKIPPED = {
    "empty.md": (b"", "it holds no text"),
    "white.txt": (b" \n\t\n ", "it holds no text"),
    "archive.md": (b"\x1f\x8b\x08" + bytes(64), "archives of this kind are not opened"),
    "program.txt": (b"\x7fELF" + bytes(64), "programs are not read"),
    "unknown.xyz": (bytes(range(256)) * 8, "binary file of unknown type"),
    "large.txt": (b"The keeper writes too much. " * 2000, "more than max_bytes of its source allows (50,000)"),
}
FAILED = {
    "broken.docx": b"PK\x03\x04" + bytes(80),
    "damaged.docx": DAMAGED.getvalue(),
    "picture.md": b"\x89PNG\r\n\x1a\n" + bytes(64),
    "page.pdf": b"%PDF-1.7\n" + bytes(64),
}


@pytest.fixture(scope="module")
def hostile(shared_workplace: Workplace, exported_model: Path) -> Iterator[Workplace]:
    """A folder of everything that may go wrong, ingested once."""
    shared_workplace.begin_prepared(exported_model)
    shared_workplace.configure(handbook="docs")
    shared_workplace.configuration.write_text(
        shared_workplace.configuration.read_text() + "        max_bytes: 50_000\n"
    )
    for name, content in {**SEARCHABLE, **{name: content for name, (content, _) in SKIPPED.items()}, **FAILED}.items():
        shared_workplace.write(f"docs/{name}", content)
    shared_workplace.write("docs/good.md", "The keeper is well.\n")
    with open(os.fsencode(shared_workplace.docs) + b"/bytes \xff\xfe.md", "wb") as file:  # noqa: PTH123
        file.write(b"The keeper has a name of bytes.\n")
    (shared_workplace.docs / "loop").symlink_to(shared_workplace.docs, target_is_directory=True)
    (shared_workplace.docs / "dangling.md").symlink_to("nowhere.md")
    with shared_workplace.unrecorded():
        shared_workplace.ingest(code=3)
        yield shared_workplace


def items(workplace: Workplace, *options: str) -> dict[str, Json]:
    return {item["uri"]: item for item in workplace.json("documents", *options)["documents"]}


def test_where_there_is_content_it_is_searchable(hostile: Workplace) -> None:
    found = {hit["uri"] for hit in hostile.json("search", "keeper", "-n", "50", "--mode", "keyword")["results"]}
    named = {hostile.uri(f"docs/{name}") for name in [*SEARCHABLE, "good.md"]}
    assert found == named | {file_uri(str(hostile.docs)) + "/bytes%20%FF%FE.md"}
    assert not list(hostile.folder.rglob("owned")), "nothing in a document is executed"


def test_everything_else_is_a_line_with_the_reason(hostile: Workplace) -> None:
    failed = items(hostile, "--failed")
    (status,) = hostile.json("status")["collections"]
    problems = {problem["uri"]: problem for problem in status["problems"]}
    expected: dict[str, Any] = {name: ("skipped", reason) for name, (_, reason) in SKIPPED.items()}
    expected |= {
        "loop": ("skipped", "symbolic link to a parent folder: a loop"),
        "dangling.md": ("skipped", "broken symbolic link"),
    }
    for name, (state, reason) in expected.items():
        item = failed[hostile.uri(f"docs/{name}")]
        assert item["state"] == state, name
        assert reason in item["error"], name
        assert reason in problems[hostile.uri(f"docs/{name}")]["error"], name
    for name in FAILED:
        item = failed[hostile.uri(f"docs/{name}")]
        assert (item["state"], item["version"]) == ("failed", 0)
        assert item["error"], "the reason"
        assert "\n" not in item["error"]
        assert problems[hostile.uri(f"docs/{name}")]["next_retry_at"] is None, "it waits for a change"
    assert set(failed) == {hostile.uri(f"docs/{name}") for name in [*expected, *FAILED]}
    assert (status["failed"], status["skipped"]) == (len(FAILED), len(expected))
    assert status["documents"] == len(SEARCHABLE) + 2 + 2 + len(FAILED), "with content, without text, failed"


def test_any_query_is_answered_or_refused_clearly(hostile: Workplace) -> None:
    """No query is executed: not as SQL, not as a search expression, not as a format."""
    with KnowledgeBase.connect(home=hostile.home) as knowledge:
        for query in (
            "keeper'; DROP TABLE document; --",
            "\"keeper 'unbalanced",
            "keeper & | ! <-> :* ( )",
            "keeper %s %(name)s {0} \\",
            "keeper \x00 \ud800",
            "keeper " * 1400,
        ):
            assert knowledge.search(query, mode="keyword"), query
        for query in ("🌊", "the of and", "!!!", "'", "\\"):
            assert not [hit for hit in knowledge.search(query, mode="keyword") if "keeper" not in hit.text], query
        for query, told in (("", "empty"), (" \n\0", "empty"), ("x" * 100_001, "100,000 are searched")):
            with pytest.raises(QueryError, match=told):
                knowledge.search(query)
        with pytest.raises(QueryError, match="there is no collection"):
            knowledge.search("keeper", collections="'; DROP TABLE collection; --")


def test_a_query_that_is_refused_ends_with_2(hostile: Workplace) -> None:
    assert "100,001 characters" in hostile.run("search", "x" * 100_001, code=2)


def test_a_root_that_vanishes_says_so_and_loses_nothing(hostile: Workplace) -> None:
    before = {uri for uri, item in items(hostile).items() if item["state"] == "ready"}
    away = hostile.docs.rename(hostile.folder / "unmounted")
    try:
        counts = hostile.ingest(code=3)["handbook"]
        assert (counts["raw_files"]["removed"], counts["raw_files"]["failed"]) == (0, 1)
        (status,) = hostile.json("status")["collections"]
        assert any("does not exist or is not mounted" in problem["error"] for problem in status["problems"])
        assert str(Path(hostile.docs)) in items(hostile, "--failed")
        assert {uri for uri, item in items(hostile).items() if item["state"] == "ready"} == before
    finally:
        away.rename(hostile.docs)

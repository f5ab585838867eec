"""Passages of text files name their lines, exactly those on which their text stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.chunking.chunk import Chunk
from sourcebook.chunking.chunker import chunk_document
from sourcebook.model.place import lines_of
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.unit.chunking.bundled_tokenizer import bundled_tokenizer


def chunks_of(name: str, content: bytes, tokens: int = 60) -> list[Chunk]:
    document = parse(content, name=name, media_type=detect_media_type(name, content[:4096]))
    return chunk_document(document, title=name, tokens=tokens, overlap=0, tokenizer=bundled_tokenizer())


def assert_lines(chunks: list[Chunk], file: str) -> None:
    """The cited lines hold the passage, and no line more."""
    assert chunks
    lines = file.replace("\r\n", "\n").split("\n")
    for chunk in chunks:
        found = lines_of(chunk.anchor)
        assert found is not None
        first, last = found
        own = chunk.text.split("\n")
        assert len(own) == last - first + 1
        for line, written in zip(lines[first - 1 : last], own, strict=True):
            assert written in line
        for part in chunk.parts:
            inside = lines_of(part.anchor)
            assert inside is not None
            assert first <= inside[0] <= inside[1] <= last
            assert chunk.text[part.start :].split("\n")[0] in lines[inside[0] - 1]


PYTHON = (
    '"""Doc.\n\n```\nfenced\n```\n"""\n\n\n\n# --- front\ndef damp(k):\n\treturn k\n\x0c\n\n@d\nclass Buoy:\n'
    + "".join(f"    def moor_{n}(self, rope):\n        # line {n}\n\n        return rope + {n}\n\n" for n in range(12))
    + "LAST = 1"
)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("buoy.py", PYTHON),
        ("buoy.foo", PYTHON),
        (
            "notes.txt",
            "\n\n\nFirst paragraph\nof two lines.\n\nSecond.\n \n\n" + "A longer sentence about ropes.\n\n" * 30,
        ),
        ("a.json", '\n{\n "a": 1,\n\n "b": {"c": 2},\n "rope": "' + "long " * 99 + '"\n}\n'),
        ("a.yaml", "---\n# c\na:\n  - 1\n\n\nb: 2\n" * 9),
        ("a.cbl", "       IDENTIFICATION DIVISION.\n\n      * c\n       MAIN-PARA.\n           STOP RUN.\n" * 12),
        ("Makefile", "# doc\nall: hull\n\techo keel\n\n\nhull:\n\techo\n"),
        ("q.rq", "PREFIX : <http://x/>\n\nSELECT ?b\nWHERE { ?b :c :red }\n"),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_lines_are_those_of_the_file(name: str, source: str, ending: str, encoding: str) -> None:
    """Front text, empty lines, form feeds, tabs, a fence within the code, line ends and encodings change nothing."""
    assert_lines(chunks_of(name, source.replace("\n", ending).encode(encoding)), source)


@given(
    st.lists(
        st.sampled_from(["def f():\n", "  pass\n", "\n", "\t\n", "```\n", "x = 'ä'\n", "# c\n", "---\n"]), min_size=1
    )
)
def test_lines_of_any_code(pieces: list[str]) -> None:
    """Whatever the code is."""
    source = "".join(pieces)
    if source.strip():
        assert_lines(chunks_of("a.py", source.encode(), tokens=20), source)


def test_parts_cite_the_function_and_the_passage_all_its_lines() -> None:
    """Small functions share a passage; a hit of one of them cites its own lines."""
    (chunk,) = chunks_of("a.py", b"import rope\n\ndef moor():\n    pass\n\n\ndef sail():\n    pass\n", tokens=200)
    assert chunk.anchor == "L1-L8"
    assert [(part.heading_path, part.anchor) for part in chunk.parts] == [
        ((), "L1-L1"),
        (("moor",), "L3-L4"),
        (("sail",), "L7-L8"),
    ]


def test_a_line_above_leaves_the_identity_of_passages() -> None:
    """A passage that moved down is the same passage with other lines: it is not embedded or indexed again."""
    source = b"def moor():\n    pass\n"
    (before,), (after,) = chunks_of("a.py", source), chunks_of("a.py", b"\n\n" + source)
    assert (before.anchor, after.anchor) == ("L1-L2", "L3-L4")
    assert before.hash == after.hash


def test_converted_documents_have_no_lines() -> None:
    """A heading's anchor stays, and a page whose element has the id `L5` names no line."""
    (chunk,) = chunks_of("a.md", b"# L5\n\nText of the page.\n\n```python\nx = 1\n```\n", tokens=200)
    assert chunk.anchor == "l5"
    (page,) = chunks_of("a.html", b'<h2 id="L5">Lesson</h2><p>Text of the lesson about ropes.</p>', tokens=200)
    assert page.anchor == "L5"
    assert lines_of(page.anchor) is None

"""Code and data stay verbatim and are cut at their structure."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover, texts


def parse_named(name: str, source: str) -> ParsedDocument:
    content = source.encode()
    document = parse(content, name=name, media_type=detect_media_type(name, content[:4096]))
    opening = document.markdown.index("\n") + 1
    assert source.rstrip() in document.markdown
    assert_blocks_cover(document, start=opening, end=document.markdown.rstrip().rindex("\n"))
    return document


def titles(document: ParsedDocument) -> list[str]:
    return [block.title for block in document.blocks]


def test_json_is_cut_at_its_members() -> None:
    """Commas and brackets in strings do not count."""
    document = parse_named("a.json", '{\n "name": "x, {y",\n "list": [1, 2],\n "n": null\n}\n')
    assert titles(document) == ["name", "list", "n"]
    assert document.markdown.startswith("```json\n{")
    assert {block.kind for block in document.blocks} == {"data"}


def test_long_members_are_cut_deeper() -> None:
    """An object that wraps everything in one key is cut inside it."""
    document = parse_named("a.json", json.dumps({"items": [{"id": n, "text": "word " * 20} for n in range(100)]}))
    assert len(document.blocks) == 100


@pytest.mark.parametrize("source", ['{"a": [1, 2\n"b": 3', "]", "[" * 50_000, "12", '"' * 9_999, '"' + '\\"' * 50_000])
def test_broken_json_is_cut_at_lines(source: str) -> None:
    """Invalid JSON is still text, and its time grows with its length alone: with the square, the last took 22 s."""
    begun = time.process_time()
    assert len(parse_named("a.json", source).blocks) == source.count("\n") + 1
    assert time.process_time() - begun < 5


def test_yaml_toml_and_json_lines() -> None:
    """Top-level keys, tables and records make blocks; comments stay with what they describe."""
    assert titles(parse_named("a.yaml", "# first\na:\n  - 1\nb: 2\n")) == ["a", "b"]
    assert titles(parse_named("a.toml", "x = 1\n\n# about a\n[a]\ny = 2\n[[b.c]]\nz = 3\n")) == ["", "a", "b.c"]
    assert texts(parse_named("a.jsonl", '{"a": 1}\n{"a": 2}\n')) == ['{"a": 1}', '{"a": 2}']


def test_python_is_cut_at_definitions() -> None:
    """Decorators and comments belong to the definition below them."""
    source = "import a\n\n\n# note\n@dec\ndef f():\n    pass\n\n\nclass C:\n    x = 1\nY = 2\n"
    document = parse_named("a.py", source)
    assert titles(document) == ["", "f", "C", ""]
    assert texts(document)[1] == "# note\n@dec\ndef f():\n    pass"


def test_long_classes_are_cut_at_methods() -> None:
    """A method is named after its class."""
    methods = "".join(f"    def m{n}(self):\n        return '{'x' * 300}'\n\n" for n in range(6))
    document = parse_named("a.py", f"class Big:\n    '''Doc.'''\n\n{methods}")
    assert titles(document) == ["Big", *(f"Big.m{n}" for n in range(6))]


@pytest.mark.parametrize("source", ["def (:\n", "(" * 5_000, 'x = "\\d"\n', "print 1\n\n\nprint 2\n"])
def test_what_is_no_python_3_is_still_read(source: str) -> None:
    """A syntax error costs structure, not text."""
    assert parse_named("a.py", source).blocks


def test_other_languages_are_cut_at_the_left_margin() -> None:
    """A block begins where, after a blank line, code begins in column 0."""
    source = "package main\n\nfunc a() {\n\n\tx()\n}\n\nfunc b() {\n}\n"
    document = parse_named("a.go", source)
    assert document.markdown.startswith("```go\n")
    assert texts(document) == ["package main", "func a() {\n\n\tx()\n}", "func b() {\n}"]


def test_fences_in_the_text_do_not_end_the_fence() -> None:
    """The fence is longer than any run of backticks inside."""
    assert parse_named("a.sh", "echo '```'\n").markdown.startswith("````bash\n")


@given(
    st.text(max_size=200).filter(str.strip), st.sampled_from(["a.json", "a.yaml", "a.toml", "a.py", "a.js", "a.jsonl"])
)
def test_any_text_is_covered(source: str, name: str) -> None:
    """Whatever the text, blocks leave out only white space."""
    document = parse(source.encode("utf-8", "ignore"), name=name, media_type=detect_media_type(name, b"x"))
    if document.blocks:
        opening = document.markdown.index("\n") + 1
        assert_blocks_cover(document, start=opening, end=document.markdown.rstrip("\n").rindex("\n"))

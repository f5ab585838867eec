"""Front matter is metadata of one shape, in YAML and in TOML."""

import pytest

from sourcebook.parsing.text.markdown import parse_markdown
from tests.unit.parsing.covering import assert_blocks_cover, texts

ENGLISH = "The committee decided to postpone the meeting until everybody has read the report."


@pytest.mark.parametrize(
    "source",
    [
        "---\ntitle: T\ndate: 2024-05-06\ntags: [a, b]\nauthor: Ada\n---\n",
        "---\ntitle: T\ndate: May 6, 2024\ntags: a, b\nauthors: [Ada]\n...\n",
        '+++\ntitle = "T"\ndate = 2024-05-06\ntags = ["a", "b"]\nauthor = "Ada"\n+++\n',
        '{\n  "title": "T", "date": "2024-05-06",\n  "tags": ["a", "b"], "author": "Ada"\n}\n',
        '+++\ntitle = "T"\ndate = 2024-05-06\nauthor = "Ada"\n[taxonomies]\ntags = ["a", "b"]\n+++\n',
        '+++\ntitle = "T"\ndate = "6 May 2024"\nkeywords = ["a", "b"]\n[[authors]]\nname = "Ada"\n+++\n',
    ],
)
def test_yaml_and_toml_say_the_same(source: str) -> None:
    """Dates are ISO, tags are a list, authors are a text; the front matter is in no block."""
    document = parse_markdown(f"{source}\nText.\n".encode())
    assert document.title == "T"
    assert {name: document.metadata[name] for name in ("date", "tags", "author")} == {
        "date": "2024-05-06",
        "tags": ["a", "b"],
        "author": "Ada",
    }
    assert document.markdown.startswith(source)
    assert texts(document) == ["Text."]


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("tags: one", ["one"]),
        ("tags: [2024, true, null, ' ', a, a]", ["2024", "True", "a"]),
        ("tags: 7", ["7"]),
        ("tags: {a: 1, b: 2}", ["a", "b"]),
        ("tags:", []),
        ("tags: ['#a', '#b/c', '#']", ["a", "b/c", "#"]),
        ("categories: [x]\nkeywords: y", ["y"]),
    ],
)
def test_tags_are_a_list_of_texts(written: str, tags: list[str]) -> None:
    """Whatever YAML made of them."""
    assert parse_markdown(f"---\n{written}\n---\n\nText.\n".encode()).metadata["tags"] == tags


@pytest.mark.parametrize(
    ("written", "language"),
    [("lang: de", "de"), ("language: pt-BR", "pt"), ("lang: no", "no"), ("language: English", "en"), ("x: y", "en")],
)
def test_a_declared_language_decides(written: str, language: str) -> None:
    """A code counts, `no` among them; a name is no code: then the text tells."""
    assert parse_markdown(f"---\n{written}\n---\n\n{ENGLISH}\n".encode()).language == language


@pytest.mark.parametrize("source", ["+++\nnot toml\n+++\n\ntext", "+++\na = 1\n\ntext", "+++", "+++\n" + "[a" * 9000])
def test_what_is_no_toml_is_content(source: str) -> None:
    """Nothing is lost where the TOML is broken or has no end."""
    document = parse_markdown(source.encode())
    assert_blocks_cover(document)
    assert document.metadata == {"encoding": "utf-8"}


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("---\ntitle: T\nsupersedes: [a, b\ntags: x\n---\n", "line 4: expected ',' or ']', but got ':'"),
        ("---\ntitle: Tides: a book\n---\n", "line 2: mapping values are not allowed here"),
        ("---\n# kept by hand\n\ntags:\n\t- a\n---\n", "line 5: found character '\\t' that cannot start any token"),
        ("+++\ntitle = 'T'\ntags =\n+++\n", "line 3: Invalid value"),
    ],
)
def test_front_matter_that_cannot_be_read_is_named_with_its_line(source: str, error: str) -> None:
    """Its fields would be lost in silence; it stays as text."""
    document = parse_markdown(f"{source}\nText.\n".encode())
    assert document.metadata == {"front_matter_error": error, "encoding": "utf-8"}
    assert_blocks_cover(document)


def test_text_between_rules_is_no_front_matter() -> None:
    """It does not begin with a field."""
    document = parse_markdown(b"---\n\nThree things, and these: tides, [knots\n\n---\n\nText.\n")
    assert "front_matter_error" not in document.metadata


@pytest.mark.parametrize(
    ("written", "is_draft"),
    [("draft: true", True), ("draft: false", False), ("published: false", True), ("publish: false", True)],
)
def test_a_draft_is_kept_and_marked(written: str, is_draft: bool) -> None:
    """As Hugo, Jekyll and Obsidian write it; a search can leave it out."""
    document = parse_markdown(f"---\n{written}\n---\n\nText.\n".encode())
    assert document.metadata["draft"] is is_draft
    assert texts(document) == ["Text."]


def test_what_is_published_is_no_draft() -> None:
    """A date of publication neither."""
    for written in ("published: true", "published: 2024-05-06", "x: y"):
        assert "draft" not in parse_markdown(f"---\n{written}\n---\n\nText.\n".encode()).metadata


def test_fields_of_generators_keep_their_names() -> None:
    """Dates in camel case are dates, and a title in figures is one."""
    document = parse_markdown(
        b"---\ntitle: 1984\npublishDate: May 6, 2024\nslug: /book\naliases: [/old]\n---\n\nText.\n"
    )
    assert document.title == "1984"
    assert document.metadata["publishDate"] == "2024-05-06"
    assert (document.metadata["slug"], document.metadata["aliases"]) == ("/book", ["/old"])


@pytest.mark.parametrize(
    "source", ['{"a": 1}\n', '{"a": 1} text\n', "{a}\n\ntext\n", "{}\n\ntext\n", '{"a": [1\n}\n\ntext\n']
)
def test_what_is_no_json_front_matter_is_content(source: str) -> None:
    """An object alone is all that the file holds."""
    document = parse_markdown(source.encode())
    assert_blocks_cover(document)
    assert document.metadata == {"encoding": "utf-8"}

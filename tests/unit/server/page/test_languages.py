"""The page in other languages: catalogues that are whole, templates without a text that nobody translates, visitors."""

import re
from collections.abc import Iterator
from contextvars import copy_context
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import pytest
from jinja2 import nodes
from starlette.requests import HTTPConnection

from sourcebook.model.place import place_words
from sourcebook.server.page import translation
from sourcebook.server.page.said_places import said_place
from sourcebook.server.page.translation import COOKIE, LANGUAGES, SOURCE, language_for
from tests.languages import problems, translations, update
from tests.page_texts import PAGE, Text, template_environment

TRANSLATED = [each for each in LANGUAGES if each != SOURCE]
TEMPLATES = sorted((PAGE / "templates").glob("*.html"))
AS_IT_IS = {"Sourcebook", "· Sourcebook", "Markdown", "JSON", ", BM25"}
"""Names, which are the same in every language."""
EXAMPLES = {
    "handbook", "policy", "retention: {removed: 30d}", "https://docs.example.com", "https://docs.example.com/", "sb_…",
    "user:anna@example.org\ngroup:board",
}  # fmt: skip
"""What fields show as examples of what is written into them."""
SPOKEN = {"placeholder", "title", "aria-label", "alt", "label"}
"""Attributes whose values people read or hear."""
UNHEARD = {"code", "pre", "script", "style"}
ATTRIBUTES = re.compile(r'(?:[a-z-]+="[^"]*"?\s*)+')
"""What a macro writes into a tag."""
MARKING = {"_", "ngettext", "pgettext"}


class At(NamedTuple):
    """Where a passage stands."""

    heading_path: tuple[str, ...] = ()
    anchor: str | None = None
    page: int | None = None
    start_seconds: float | None = None
    end_seconds: float | None = None


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_text_of_the_page_is_translated_with_its_values_and_its_html(language: str) -> None:
    assert problems(language) == []


def test_what_is_wrong_with_a_catalogue_is_said(tmp_path: Path) -> None:
    def wrong(old: str, new: str, language: str = "de") -> str:
        (tmp_path / f"{language}.po").write_text((PAGE / "languages" / f"{language}.po").read_text().replace(old, new))
        update(language, tmp_path)
        (found,) = problems(language, tmp_path)
        return found

    assert wrong('msgstr "Alle Sammlungen"', 'msgstr ""') == "de: 'All collections': not translated"
    assert "other values" in wrong('msgstr "Auftrag für %(name)s"', 'msgstr "Auftrag für %(nome)s"')
    assert "collections? is ammlung elsewhere" in wrong('msgstr "Alle Sammlungen"', 'msgstr "Alle Bestände"')
    assert "punctuation" in wrong("Comparée à ses sources\u00a0:", "Comparée à ses sources :", "fr")
    assert "punctuation" in wrong('"，读取于', '", 读取于', "zh")
    assert "punctuation" in wrong("¿Qué quiere saber?", "Qué quiere saber?", "es")
    assert "other HTML" in wrong('msgstr "Links, Bilder', 'msgstr "<b>Links, Bilder')
    (tmp_path / "de.po").write_text((PAGE / "languages" / "de.po").read_text())
    assert problems("de", tmp_path) == ["de: the .mo is not that of the .po: run python -m tests.languages"]
    assert translations("de", tmp_path)[Text("", "All collections", "")] == ("Alle Sammlungen",)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.name))
def test_no_text_of_a_template_is_left_to_english_alone(template: Path) -> None:
    source = template.read_text()
    assert [each for each in _written(source) if each not in AS_IT_IS | EXAMPLES] == []
    assert [each for each in _in_expressions(source) if each not in EXAMPLES] == []


def test_the_walk_over_a_template_finds_what_is_not_marked() -> None:
    source = '<p title="A {{ x }}">{{ _("Marked") }} one <code>x</code>{% if x %}two{% endif %}</p>'
    source += '{{ "Three" if x else "a b" }}'
    assert (list(_written(source)), list(_in_expressions(source))) == (["A", "one", "two"], ["Three", "a b"])


@pytest.mark.parametrize(
    ("asked", "chosen", "language"),
    [
        ("", "", "en"),
        ("de-AT", "", "de"),
        ("fr;q=0.5, de;q=0.8, en;q=0.1", "", "de"),
        ("pt-BR,pt;q=0.9,es;q=0.8,en;q=0.7", "", "es"),
        ("zh-TW,zh;q=0.9,en-US;q=0.8", "", "zh"),
        ("it, *;q=0.5, de;q=0.4", "", "en"),
        ("de;q=0, fr;q=0.000", "", "en"),
        ("de;q=9, de-" + "x" * 9_000 + ", ;;q=1,\x00", "", "en"),
        ("de", "zh", "zh"),
        ("de", "../de", "de"),
    ],
)
def test_a_visitor_reads_the_language_that_was_chosen_or_that_the_browser_prefers(
    asked: str, chosen: str, language: str
) -> None:
    headers = [(b"accept-language", asked.encode()), (b"cookie", f"{COOKIE}={chosen}".encode())]
    assert language_for(HTTPConnection({"type": "http", "headers": headers})) == language


def _written(source: str) -> Iterator[str]:
    """Yield the texts with letters that a template has beside its expressions."""
    tokens = [(kind, value) for _, kind, value in template_environment().lex(source)]
    shown = "".join(value if kind == "data" else "\0" for kind, value in tokens if kind in {"data", "variable_begin"})
    reader = _Reader()
    reader.feed(shown.replace("<\0", "<audio"))
    reader.close()
    parts = (part.strip() for each in reader.found for part in each.split("\0"))
    yield from (each for each in parts if re.search(r"[^\W\d_]", each) and not ATTRIBUTES.fullmatch(each))


class _Reader(HTMLParser):
    """Collects what people read of HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._within: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in SPOKEN]
        if tag in UNHEARD:
            self._within.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in UNHEARD and self._within:
            self._within.pop()

    def handle_data(self, data: str) -> None:
        if not self._within:
            self.found.append(data)


def _in_expressions(source: str) -> Iterator[str]:
    """Yield the texts in a template's expressions that read as words for people, and are not marked."""
    yield from _words(template_environment().parse(source))


def _words(node: nodes.Node) -> Iterator[str]:
    if (
        isinstance(node, nodes.Call)
        and isinstance(node.node, nodes.Name)
        and node.node.name in {"_", "ngettext", "pgettext"}
    ):
        variable = [each for each in node.args if not isinstance(each, nodes.Const)]
        for held in [*variable, *(keyword.value for keyword in node.kwargs)]:
            yield from _words(held)
    elif isinstance(node, nodes.Const):
        if isinstance(node.value, str) and re.search(r"^[A-Z][a-z]|[a-z] [a-z]", node.value):
            yield node.value
    else:
        for each in node.iter_child_nodes():
            yield from _words(each)


@pytest.mark.parametrize(
    ("place", "german"),
    [
        (place_words(At(page=3), "", {}), ["Seite 3"]),
        (place_words(At(page=3), "", {"page_labels": {"1": "i"}}), ["Seite iii (3 der Datei)"]),
        (place_words(At(anchor="L10-L10"), "", {}), ["Zeile 10"]),
        (place_words(At(("On page 3",), "L10-L42"), "", {}), ["On page 3", "Zeilen 10–42"]),
    ],
)
def test_places_of_passages_are_said_as_the_library_writes_them(place: list[str], german: list[str]) -> None:
    assert copy_context().run(_in_german, place) == german


def _in_german(place: list[str]) -> list[str]:
    translation._chosen.set("de")
    return [said_place(each) for each in place]

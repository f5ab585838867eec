"""Sentences from below the page: each is said in the visitor's language, with its values as they are."""

import re
from contextvars import copy_context

import pytest

from sourcebook.server.page import translation
from sourcebook.server.page.sentences import CONTEXT, said
from sourcebook.server.page.translation import LANGUAGES, SOURCE
from tests.languages import translations
from tests.page_texts import PAGE

TRANSLATED = [each for each in LANGUAGES if each != SOURCE]
ADVISED = "Textstellen mit 'mercury' sind ausgelassen, wie die Suche mit einem Strich verlangt"
ADVISED += "; in Anführungszeichen wird danach gesucht"
VALUE = re.compile(r"%\((\d)\)s")
SAID = re.compile(r"(?:^|\.|\b)(?:error|failure|reason|problem|note|detail)\|(?!said)|problems\[[^]]*\]\|printable")


def in_language(name: str, sentence: str) -> str:
    def say() -> str:
        translation._chosen.set(name)
        return said(sentence)

    return copy_context().run(say)


@pytest.mark.parametrize("language", TRANSLATED)
def test_each_sentence_is_found_by_its_own_template(language: str) -> None:
    found = {text.singular: told for text, (told, *_) in translations(language).items() if text.context == CONTEXT}
    assert len(found) > 600
    filled = {text: (VALUE.sub(r"<\1>", text), VALUE.sub(r"<\1>", told)) for text, told in found.items()}
    wrong = {text for text, (sentence, told) in filled.items() if in_language(language, sentence) != told}
    assert wrong == set()


@pytest.mark.parametrize(
    ("sentence", "german"),
    [
        ("the PDF is encrypted and needs a password; save a copy without one",
         "die PDF-Datei ist verschlüsselt und braucht ein Passwort; eine Kopie ohne Passwort speichern"),
        ("'the <b>' has no word to look for beside stop words: it was not required",
         "'the <b>' hat neben Füllwörtern kein Wort zum Suchen: es wurde nicht verlangt"),
        ("passages with 'mercury' are left out, as the query asks by a dash; in quotation marks it is searched",
         ADVISED),
        ("handbook is being filled: 3 of 9 documents are searchable, 2 of them by meaning too",
         "handbook wird gerade gefüllt: 3 von 9 Dokumenten sind durchsuchbar, davon 2 auch nach der Bedeutung"),
        ("this is no duration; allowed: a duration such as 30m, 12h, 1d or 1w",
         "das ist keine Zeitspanne; erlaubt: eine Zeitspanne wie 30m, 12h, 1d oder 1w"),
        ("collection letters: the database does not answer", "collection letters: die Datenbank antwortet nicht"),
        ("The provider openai answers with status 500.", "Der Anbieter openai antwortet mit Status 500."),
        ("%(1)s \\1 is no template: x", "%(1)s \\1 is no template: x"),
        ("the archive holds no files" + "!" * 3_000, "the archive holds no files" + "!" * 3_000),
    ],
)  # fmt: skip
def test_a_sentence_is_said_with_its_values(sentence: str, german: str) -> None:
    assert in_language("de", sentence) == german
    assert in_language("en", sentence) == sentence


def test_templates_say_every_sentence_from_below() -> None:
    texts = {path.name: path.read_text() for path in (PAGE / "templates").glob("*.html")}
    assert {name: SAID.findall(text) for name, text in texts.items() if SAID.search(text)} == {}

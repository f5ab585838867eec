"""Data for search engines in a page (JSON-LD)."""

import json
from collections.abc import Iterator
from html import escape

from sourcebook.model.document import JsonValue

_LONGEST_DATA = 500_000
"""Characters of a script with data that is read."""


def linked_things(source: str) -> Iterator[dict[str, JsonValue]]:
    """Yield the top-level objects of a script, also those in a list and in `@graph`; none where it is too long."""
    try:
        data: JsonValue = json.loads(source) if len(source) <= _LONGEST_DATA else None
    except (ValueError, RecursionError):
        return
    for thing in data if isinstance(data, list) else [data]:
        if isinstance(thing, dict):
            yield thing
            graph = thing.get("@graph")
            for member in graph if isinstance(graph, list) else []:
                if isinstance(member, dict):
                    yield member


def linked_texts(source: str) -> Iterator[str]:
    """Yield the HTML of the articles, and of the questions with their answers, that a script holds."""
    for thing in linked_things(source):
        body, headline = thing.get("articleBody"), thing.get("headline")
        if isinstance(body, str):
            yield f"<h1>{escape(headline)}</h1>" if isinstance(headline, str) else ""
            yield body if "</" in body else f"<p>{escape(body)}</p>"
        questions = thing.get("mainEntity")
        for question in questions if isinstance(questions, list) else [questions]:
            answer = question.get("acceptedAnswer") if isinstance(question, dict) else None
            text = answer.get("text") if isinstance(answer, dict) else None
            if isinstance(question, dict) and isinstance(text, str):
                yield f"<h2>{escape(str(question.get('name') or ''))}</h2><div>{text}</div>"

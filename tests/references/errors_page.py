"""docs/errors.md: every sentence of an error, by what went wrong."""

import re
from typing import Final

from tests.references.error_sentences import errors
from tests.references.parts import page, sections

_TITLES: Final = {
    "BadParameter": "Options of commands",
    "UsageError": "Options that do not fit together",
    "PydanticCustomError": "Values of settings",
}


def make() -> str:
    """Return the page."""
    blocks = []
    for name, (cause, sentences) in errors().items():
        if sentences:
            items = [f"- {_plain(sentence)}" for sentence in sentences]
            blocks.append("\n\n".join([f"## {_TITLES.get(name) or _title(name)}", cause, "\n".join(items)]))
    return page("errors.md", "Errors by their words", sections("errors.md")[""], *blocks)


def _title(name: str) -> str:
    """Return the name of a class in words: `DatabaseBusyError` becomes `Database busy`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.removesuffix("Error")).split()
    return " ".join([words[0], *(word.lower() for word in words[1:])]) + f" (`{name}`)"


def _plain(sentence: str) -> str:
    return re.sub(r"([*_<\[\]])", r"\\\1", sentence)

"""docs/errors.md: every sentence of an error, by what went wrong."""

import re
from typing import Final

from tests.references.error_sentences import errors
from tests.references.parts import page, sections

_TITLES: Final = {
    "BadParameter": "Options of commands",
    "UsageError": "Options that do not fit together",
    "PydanticCustomError": "Values of settings",
    "OSError": "Files and hosts",
    "TypeError": "Programs of yours",
    "ValueError": "Other values",
}


_MOST_TOGETHER: Final = 12
"""Sentences of a class that stand together, at most; more are divided by what makes them."""


def make() -> str:
    """Return the page."""
    blocks = []
    for name, (cause, by_purpose) in errors().items():
        blocks += [f"## {_TITLES.get(name) or _title(name)}", cause]
        together = sorted({sentence for held in by_purpose.values() for sentence in held})
        if len(together) <= _MOST_TOGETHER:
            blocks.append(_listed(together))
        else:
            blocks += [f"### {purpose}\n\n{_listed(held)}" for purpose, held in by_purpose.items()]
    return page("errors.md", "Errors by their words", sections("errors.md")[""], *blocks)


def _listed(sentences: list[str]) -> str:
    return "\n".join(f"- {_plain(sentence)}" for sentence in sentences)


def _title(name: str) -> str:
    """Return the name of a class in words: `DatabaseBusyError` becomes `Database busy`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.removesuffix("Error")).split()
    return " ".join([words[0], *(word.lower() for word in words[1:])]) + f" (`{name}`)"


def _plain(sentence: str) -> str:
    return re.sub(r"([*_<\[\]])", r"\\\1", sentence)

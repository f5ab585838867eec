"""Output on stdout: JSON, tables and text, without control characters from documents."""

import json
import os
import re
import sys
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from sourcebook.cli.answers import answering
from sourcebook.model.counted import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# Escape sequences (CSI, OSC and other strings, two-character ones), other controls, and marks that reorder text.
_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -~]?|\x9b[0-?]*[ -/]*[@-~]"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# A word with the white space around it; a character of a script without spaces.
_WIDE = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
_WORD = re.compile(rf"\s*(?:[{_WIDE}]|[^\s{_WIDE}]+)\s*")


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object on one line."""
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    line = json.dumps(value, ensure_ascii=ascii_only, default=_plain) + "\n"
    with answering():
        sys.stdout.write(line)


def retry_note(*, failed: bool, parked: bool, attempts: int, next_retry_at: datetime | None) -> str:
    """Return when a failed item is tried again, and what to do where it is parked; empty for any other item."""
    if not failed:
        return ""
    if parked:
        after = f" after {counted(attempts, 'attempt')}" if attempts else ""
        return f"parked{after} until its content or the settings change; try again: sourcebook ingest --only-failed"
    return f"next retry {next_retry_at.astimezone():%Y-%m-%d %H:%M}" if next_retry_at else ""


def say_waiting(collection: str) -> None:
    """Say on standard error that the ingest of a collection is waited for."""
    print(f"Waiting for the running ingest of {collection}.", file=sys.stderr, flush=True)


def wraps() -> bool:
    """Return whether lines are wrapped: in a terminal, or where COLUMNS gives a width; never in a pipe."""
    return sys.stdout.isatty() or bool(os.environ.get("COLUMNS"))


def console() -> "Console":
    """Return the console for tables and text: without markup, and wide where stdout is no terminal."""
    return _console(wraps(), os.environ.get("COLUMNS"), os.environ.get("NO_COLOR"))


@cache
def _console(wrapping: bool, columns: str | None, no_color: str | None) -> "Console":
    """Return one console for each state of what it reads once."""
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False, width=None if wrapping else 200)


def say(text: "str | Text", *, indent: str = "", hanging: str = "") -> None:
    """Print a text: wrapped at words in a terminal, with each line indented, and those after the first one further.

    In a pipe no line is wrapped.

    A word that is longer than the line, such as a URL, stays whole.
    """
    if isinstance(text, str) and not wraps():  # plain text on a line as it is needs no rich, whose import takes long
        for each in without_controls(text).split("\n"):
            sys.stdout.write(f"{indent}{each}\n")
            indent, hanging = indent + hanging, ""
        return
    shown = safe(text) if isinstance(text, str) else text
    out = console()
    width = out.width - len(indent) - len(hanging)
    for line in wrapped(shown, width) if wraps() else shown.split("\n", allow_blank=True):
        out.print(safe(indent).append_text(line), soft_wrap=True)
        indent += hanging
        hanging = ""


def wrapped(text: "Text", width: int) -> "list[Text]":
    """Return the lines of a text, broken between words only: a longer word, such as a URL, is a line of its own.

    Chinese, Japanese and Korean text, which has no spaces, is broken between its characters.
    """
    from rich.cells import cell_len

    lines: list[Text] = []
    for part in text.split("\n", allow_blank=True) or [text]:
        breaks, used = [], 0
        for word in _WORD.finditer(part.plain):
            if used and used + cell_len(word[0].rstrip()) > width:
                breaks.append(word.start())
                used = 0
            used += cell_len(word[0])
        lines += part.divide(breaks)
    for line in lines:
        line.rstrip()
    return lines


def longest_word(text: str) -> int:
    """Return the width of the longest word of a text, in columns of a terminal."""
    from rich.cells import cell_len

    return max((cell_len(word[0].strip()) for word in _WORD.finditer(text)), default=0)


def safe(text: str | None, style: str = "") -> "Text":
    """Return a text from a document or a file name, without escape sequences and control characters."""
    from rich.text import Text

    return Text(without_controls(text or ""), style=style)


def without_controls(text: str) -> str:
    """Return a text without escape sequences and control characters; line ends and tabs stay."""
    return _CONTROLS.sub("", _SEQUENCES.sub("", text.replace("\r\n", "\n")))


def one_line(text: str, most: int) -> str:
    """Return the beginning of a text, with its white space collapsed, at most `most` characters."""
    line = " ".join(without_controls(text).split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} cannot be converted to JSON")

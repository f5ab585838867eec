"""Output on stdout: JSON, tables and text, without control characters from documents."""

import json
import os
import re
import sys
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# Escape sequences (CSI, OSC and other strings, two-character ones), other controls, and marks that reorder text.
_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -~]?|\x9b[0-?]*[ -/]*[@-~]"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object on one line."""
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    sys.stdout.write(json.dumps(value, ensure_ascii=ascii_only, default=_plain) + "\n")


def retry_note(*, failed: bool, parked: bool, attempts: int, next_retry_at: datetime | None) -> str:
    """Return when a failed item is tried again, and what to do where it is parked; empty for any other item."""
    if not failed:
        return ""
    if parked:
        after = f" after {counted(attempts, 'attempt')}" if attempts else ""
        return f"parked{after} until its content or the settings change; try again: sourcebook ingest --only-failed"
    return f"next retry {next_retry_at.astimezone():%Y-%m-%d %H:%M}" if next_retry_at else ""


@cache
def console() -> "Console":
    """Return the console for tables and text: without markup, and wide where stdout is no terminal."""
    from rich.console import Console

    wide = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else 200
    return Console(markup=False, emoji=False, highlight=False, width=wide)


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


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: `1 document`, `2,000 documents`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} cannot be converted to JSON")

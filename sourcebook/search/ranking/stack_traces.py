"""Stack traces in queries: the files and lines of their frames, and the message of the exception."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_FILE: Final = r"[^\s\"'()<>|:*?]+"
_ADDRESS: Final = r"(?:[a-z-]+://[^/\s:]*(?::\d+)?|[A-Za-z]:)?"
_PATTERNS: Final = tuple(
    (re.compile(pattern, re.MULTILINE), innermost_last)
    for pattern, innermost_last in (
        (r"^\s*File \"(?P<file>[^\"\n]+)\", line (?P<line>\d+)", True),  # Python
        (r"^\s*at (?P<package>[\w.$/@<>]+)\((?P<file>[\w$-]+\.(?:java|kt|scala|groovy|clj)):(?P<line>\d+)\)", False),
        (r"^\s*at .*? in (?P<file>(?:[A-Za-z]:)?[^:\n]+):line (?P<line>\d+)", False),  # C#
        (rf"^\s*at (?:.*?[( ])?(?P<file>{_ADDRESS}{_FILE}):(?P<line>\d+):\d+\)?\s*$", False),  # JavaScript
        (rf"^\s*(?:[\w$.<>*/]*@)?(?P<file>{_ADDRESS}{_FILE}\.[cm]?[jt]sx?):(?P<line>\d+):\d+\s*$", False),
        (rf"panicked at (?:'[^'\n]*', )?(?P<file>{_FILE}):(?P<line>\d+):\d+", False),  # Rust
        (rf"^\s+at (?P<file>{_FILE}\.rs):(?P<line>\d+)(?::\d+)?\s*$", False),
        (rf"^\s+(?P<file>{_FILE}\.go):(?P<line>\d+)(?: \+0x[0-9a-f]+)?\s*$", False),
        (rf"^#\d+ +(?P<file>{_FILE}\.php)\((?P<line>\d+)\)", False),
        (rf"^\s*(?:from )?(?P<file>{_FILE}\.rb):(?P<line>\d+):in ", False),
    )
)
_MENTION: Final = re.compile(
    rf"(?<![\w/.])(?P<file>(?:[A-Za-z]:)?{_FILE}\.(?:py|pyi|java|kt|scala|jsx?|mjs|cjs|tsx?|vue|go|rs|cs|php|rb|c|cc|cpp|h|hpp"
    rf"|swift|sql|sh|ex|exs|lua|dart|m)):(?P<line>\d+)\b"
)
"""A file with its line within a sentence."""
_SCHEME: Final = re.compile(r"^(?:[a-z-]+://[^/]*|[A-Za-z]:(?=[/\\\\]))")
_ERROR: Final = re.compile(
    r"^(?:Caused by: |Unhandled exception[.:]? ?|Exception in thread \"[^\"\n]*\" |Uncaught |panic: |Error: )*"
    r"(?P<name>[A-Za-z_][\w.$]*(?:Error|Exception|Warning|Panic|Fault|Exit))\b(?: \[[^\]\n]*\])?(?:: *(?P<said>.+))?$",
    re.MULTILINE,
)
_PANIC: Final = re.compile(
    r"^panic: (?P<go>.+)$|panicked at '(?P<old>[^'\n]+)'|panicked at [^\n]+:\d+:\d+:\n(?P<rust>.+)", re.MULTILINE
)
_LAST: Final = re.compile(r"^(?P<name>[A-Za-z_][\w.]*)(?:: *(?P<said>.+))?$")
"""The last line of a traceback of Python, whose exceptions may have any name."""
MOST_FRAMES: Final = 5
"""Frames whose files are looked for, at most: those that are here, innermost first."""
_MOST_READ: Final = 200


@dataclass(frozen=True, slots=True)
class Frame:
    """A line of a file that a stack trace names."""

    path: tuple[str, ...]
    """Parts of the file's path as the trace writes it, its name last."""
    line: int


@dataclass(frozen=True, slots=True)
class StackTrace:
    """Frames and message of a stack trace."""

    frames: Sequence[Frame]
    """The innermost first: where it failed."""
    message: str
    """Name and message of the exception; empty where none is known."""


def stack_trace(text: str) -> StackTrace | None:
    """Return what a query's stack trace names; None for a query that names no line of a file."""
    if ":" not in text and "line " not in text and "(" not in text:
        return None
    for pattern, is_last in _PATTERNS:
        # The last cause of Java's is what failed first.
        causes = reversed(re.split("(?=^Caused by: )", text, flags=re.MULTILINE))
        found = [each for cause in causes for each in pattern.finditer(cause)][:_MOST_READ]
        if found:
            frames = [_frame(each) for each in (reversed(found) if is_last else found)]
            return StackTrace(list(dict.fromkeys(frames)), _message(text, last_line=is_last))
    mentioned = [_frame(each) for each in _MENTION.finditer(text)][:_MOST_READ]
    return StackTrace(list(dict.fromkeys(mentioned)), _message(text)) if mentioned else None


def _frame(found: re.Match[str]) -> Frame:
    path = _SCHEME.sub("", found["file"]).replace("\\", "/")
    package = found.groupdict().get("package")
    if package:  # com.acme.billing.Invoice.total: folders, class, method
        path = "/".join([*package.rpartition("/")[2].split(".")[:-2], path])
    return Frame(tuple(part for part in path.split("/") if part not in {"", ".", "..", "~"}), int(found["line"]))


def _message(text: str, *, last_line: bool = False) -> str:
    if last_line:
        lines = [line for line in text.rstrip().splitlines() if line.strip()]
        if lines and (last := _LAST.match(lines[-1])):
            return _said(last)
    if panic := _PANIC.search(text):
        return next(each for each in panic.groups() if each).strip()
    errors = list(_ERROR.finditer(text))
    return _said(errors[-1]) if errors else ""  # the last cause is the first one in time


def _said(found: re.Match[str]) -> str:
    name = found["name"].rpartition(".")[2]
    return f"{name} {found['said'] or ''}".strip()


def agreement(frame: Frame, uri_path: Sequence[str]) -> int:
    """Return how many parts a frame's path and a document's have in common, counted from the name of the file."""
    count = 0
    for one, other in zip(reversed(frame.path), reversed(uri_path), strict=False):
        if one.casefold() != other.casefold():
            break
        count += 1
    return count

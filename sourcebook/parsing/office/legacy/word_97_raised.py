"""Raised and lowered characters of Word 97 to 2003, which anydoc writes like all others."""

import re
from typing import Final

from sourcebook.parsing.office.legacy.word_97_runs import runs
from sourcebook.parsing.office.legacy.word_pieces import document_97, lines, shown_text
from sourcebook.parsing.text.raised_text import LEVEL, LOWERED, RAISED, without_marks

_POSITION: Final = 0x2A48
"""Property of characters: raised (1) or lowered (2)."""
_OFFSET, _SIZE = 0x4845, 0x4A43
"""Properties of characters: half points above the line, or below it (from 128 on), and the size of the font."""
_MARKED: Final = re.compile(f"([{RAISED}{LOWERED}])([^{LEVEL}]*){LEVEL}")
_ADDRESS: Final = re.compile(r"(?<=\])\([^()\s]*\)")
"""Address of a link in Markdown."""
_SHOWN: Final = re.compile(r"[^\x00-\x1f]+")
"""Text between the signs that end lines and cells, which may be raised, too."""
_SIGNS: Final = "()+±−–-"
_BEFORE: Final = 40
"""Letters and digits before a line by which it is found in the Markdown."""
_ENOUGH: Final = 20
"""Letters and digits of a line that are found without those before it."""


def with_raised_text(content: bytes, markdown: str) -> str:
    """Return Markdown with the raised and lowered text of its document as plain text says it: `10^6`, `m^2`.

    Args:
        content: the whole file; those of other formats have no such text.
        markdown: its Markdown; a line that it does not hold, or holds with other words before it, stays as it is.
    """
    text = _marked_text(content)
    if not text:
        return markdown
    shown = _ADDRESS.sub(lambda found: " " * len(found[0]), markdown)
    places = [at for at, sign in enumerate(shown) if sign.isalnum()]
    letters = "".join(markdown[at] for at in places)
    parts: list[tuple[int, int, str]] = []
    before, done = "", 0
    for line in lines(text.replace("\t", "\n")):
        plain = _letters(line)
        start = _place(letters, before, plain, done) if _MARKED.search(line) else -1
        if start >= 0:
            done = start + len(plain)
            for found in _MARKED.finditer(line):
                first = start + len(_letters(line[: found.start()]))
                last = first + len(_letters(found[2]))
                if first < last:
                    opening = len(found[2]) - len(found[2].lstrip(_SIGNS))
                    closing = len(found[2]) - len(found[2].rstrip(_SIGNS))
                    parts.append((places[first] - opening, places[last - 1] + 1 + closing, found[1]))
        before = (before + plain)[-_BEFORE:]
    for first, last, mark in reversed(parts):
        markdown = f"{markdown[:first]}{mark}{markdown[first:last]}{LEVEL}{markdown[last:]}"
    return without_marks(markdown)


def _place(letters: str, before: str, plain: str, done: int) -> int:
    """Return where a line stands behind what is done; -1 where it cannot be told."""
    found = letters.find(before + plain, max(done - len(before), 0))
    if found >= 0:
        return found + len(before)
    return letters.find(plain, done) if len(plain) >= _ENOUGH else -1


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _marked_text(content: bytes) -> str:
    """Return the shown text of a document with marks around its raised and lowered parts; "" where it has none."""
    document = document_97(content)
    found = runs(document) if document else ()
    marked = sorted((start, end, mark) for start, end, properties in found if (mark := _mark(properties)))
    if document is None or not marked:
        return ""
    text: list[str] = []
    for place, count, width in document.pieces:
        at, end = place, place + count * width
        cuts = [(max(first, at), min(last, end), mark) for first, last, mark in marked if first < end and last > at]
        for first, last, mark in [*cuts, (end, end, "")]:
            held = _decoded(document.stream[first:last], width)
            text += [_decoded(document.stream[at:first], width), _SHOWN.sub(rf"{mark}\g<0>{LEVEL}", held)]
            at = last
    return shown_text("".join(text))


def _mark(properties: dict[int, int]) -> str:
    """Return the mark of a run that is raised or lowered, by its property or by an offset and a size of its own."""
    offset = properties.get(_OFFSET, 0) if _SIZE in properties else 0
    if properties.get(_POSITION) == 1 or 0 < offset < 0x80:
        return RAISED
    return LOWERED if properties.get(_POSITION) == 2 or offset else ""


def _decoded(stored: bytes, width: int) -> str:
    return stored.decode("cp1252" if width == 1 else "utf-16-le", "replace")

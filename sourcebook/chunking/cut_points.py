"""Cut points of a passage that is too long: items, rows, lines, sentences or words."""

import re

from sourcebook.model.document import BlockKind

_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_LIST_ITEM = re.compile(r"\n(?=(?:[-*+]|\d{1,9}[.)])[ \t])")
_NESTED_ITEM = re.compile(r"\n(?=[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t])")
_LINE = re.compile(r"\n")
_SENTENCE = re.compile(r"""[.!?…।॥؟۔։።។။]["'”’»)\]*_]*\s+|[。！？]["'”’」』）]*\s*|\n[ \t]*\n""")
_WORD = re.compile(r"\s+")
_BETWEEN_LINKS = re.compile(r"\)[,;|/]?(?=!?\[)")
"""Ends of links that follow one another without a space, such as the references back from a footnote."""

_PROSE = (_SENTENCE, _LINE, _WORD)
_PLACES: dict[BlockKind, tuple[re.Pattern[str], ...]] = {
    "list": (_LIST_ITEM, _NESTED_ITEM, _SENTENCE, _LINE, _WORD),
    "table": (_LINE, _WORD),
    "code": (_BLANK_LINE, _LINE, _WORD),
    "data": (_LINE, _WORD),
    "quote": _PROSE,
    "paragraph": _PROSE,
    "heading": _PROSE,
    "speech": _PROSE,
}
_FULL_ENOUGH = 3
"""Divisor of the room: a cut that fills less than a third of it gives way to the next finer kind of cut."""


def best_cut(text: str, kind: BlockKind, start: int, limit: int) -> int:
    """Return the last cut point in `(start, limit]`.

    It is between items, rows, lines, sentences, words or links; without any, it is `limit`.
    """
    full_enough = start + (limit - start) // _FULL_ENOUGH
    for place in (*_PLACES[kind], _BETWEEN_LINKS):
        last = None
        for last in place.finditer(text, full_enough, limit):  # noqa: B007 - the last match is wanted
            pass
        if last is not None and last.end() > start:
            return last.end()
    word = _WORD.search(text, start + 1, full_enough)
    return word.end() if word is not None and word.end() < limit and kind != "code" else limit


def last_sentence(text: str, start: int, end: int) -> int:
    """Return the start of the last sentence of `text[start:end]`."""
    begin = start
    for match in _SENTENCE.finditer(text, start, end):
        if match.end() < end:
            begin = match.end()
    return begin

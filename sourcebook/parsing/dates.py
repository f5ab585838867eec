"""Date lines of a page, which change without its content, and dates in ISO 8601."""

import re
from datetime import date, datetime
from email.utils import parsedate_to_datetime

from sourcebook.parsing.fences import unfenced_spans

_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, start=1)}
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
_DAY = (
    _WEEKDAY + r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
    r"|\d{1,2}(?:\.|st|nd|rd|th)?\s+(?:de\s+|of\s+)?[^\W\d_]{3,12}\.?,?\s+(?:de\s+)?\d{4}"
    r"|[^\W\d_]{3,12}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4}|\d{4}年\d{1,2}月\d{1,2}日)"
)
_TIME = (
    r"(?:(?:T|\s*,?(?:\s+(?:at|um|à))?)\s*\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:\s*[ap]\.?m\.?)?(?:\s*Uhr)?"
    r"(?:\s*\(?(?:[A-Z]{1,5}|[+-]\d{2}:?\d{2})\)?)?)?"
)
_AGO = (
    r"(?:(?:about|over|almost)\s+)?(?:\d+|an?|one|a few)\s+(?:second|minute|hour|day|week|month|year)s?\s+ago"
    r"|just now|yesterday|today"
    r"|vor\s+\w+\s+(?:Sekunde|Minute|Stunde|Tag|Woche|Monat|Jahr)\w*|il y a\s+\w+\s+\w+|hace\s+\w+\s+\w+"
)
_MODIFIED = (
    r"(?:(?:this\s+)?(?:page|document|article|site|file)\s+(?:was\s+|is\s+)?)?(?:last\s+|latest\s+)?"
    r"(?:updated?|modified|modification|changed?|edited|revised|revision|reviewed|generated|built|rendered|refreshed)"
    r"|zuletzt\s+(?:aktualisiert|geändert|bearbeitet)|letzte\s+(?:Änderung|Aktualisierung)|Stand"
    r"|(?:dernière\s+(?:mise\s+à\s+jour|modification))|mis\s+à\s+jour|última\s+(?:actualización|modificación|atualização)"
    r"|actualizado|atualizado|ultimo\s+aggiornamento|aggiornato|laatst\s+bijgewerkt"
)
_PUBLISHED = (
    r"(?:first\s+|originally\s+)?(?:published|posted)|(?:date\s+)?created|date"
    r"|veröffentlicht|publié|publicado|pubblicato"
)
_DIGIT = re.compile(r"\d")
_WORDS_OF_AGO = ("ago", "now", "day", "vor", " y a", "hace")
"""A part of each form of `_AGO`, in lower case."""
_DECORATION = r"[*_\s()\[\]|·•–—-]*"
_LINE = re.compile(
    rf"{_DECORATION}(?:(?:(?P<modified>{_MODIFIED})|(?P<published>{_PUBLISHED}))(?:\s+(?:on|at|le|am|el|em|il|op))?\s*:?{_DECORATION})?"
    rf"(?:(?P<day>{_DAY})(?P<time>{_TIME})|(?P<ago>{_AGO})){_DECORATION}\.?{_DECORATION}",
    re.IGNORECASE,
)
_COPYRIGHT = re.compile(r"[*_ ]*(?:copyright|©|\(c\))(?=[^\n]*\b\d{4}\b).*", re.IGNORECASE)
_LONGEST = 120
_CANDIDATE = re.compile(r"^(?P<lead>[-*+] )?[ ]{0,3}(?P<line>[^\n#|>`\s-][^\n]{3,259})$", re.MULTILINE)
"""A line that starts no other block."""
_INDENTED = re.compile(r"\n*[ \t]")
_MOST_OF_A_KIND = 2
"""Lines with a date of one kind that concern the page, which may say it at its top and at its end."""
_ENDS = 3
"""Lines at the end of a page among which a copyright line concerns the page."""


def split_date_lines(markdown: str) -> tuple[str, dict[str, str]]:
    """Remove the lines that hold only the page's date, and a copyright line at the end.

    A date without a word such as `updated` concerns the page where there is one such line; several are content. So are
    three and more with a word of one kind, such as the `Date:` of quoted messages.

    Returns:
        The Markdown without these lines, and their dates `published` and `modified` in ISO 8601, as far as readable.
    """
    dates: dict[str, str] = {}
    ago: list[tuple[int, int]] = []
    bare: list[tuple[int, int]] = []
    named: dict[str, list[tuple[int, int]]] = {"modified": [], "published": []}
    moments: dict[str, str] = {}
    rights: list[tuple[int, int]] = []
    for candidate in (line for span in unfenced_spans(markdown) for line in _CANDIDATE.finditer(markdown, *span)):
        text = candidate["line"]
        if _goes_on(markdown, candidate):
            continue
        if _COPYRIGHT.fullmatch(text):
            rights.append(candidate.span())
            continue
        may_be = len(text) <= _LONGEST and _may_hold_date(text)
        line = _LINE.fullmatch(text.replace("\\", "").rstrip()) if may_be else None
        if line is None:
            continue
        kind = "modified" if line["modified"] else "published" if line["published"] else None
        if line["ago"] and not kind and " " not in line["ago"]:
            continue  # `Today` on a line of its own may be a heading
        (named[kind] if kind else ago if line["ago"] else bare).append(candidate.span())
        moment = (iso_date(line["day"] + line["time"]) or iso_date(line["day"])) if line["day"] else None
        if kind and moment:
            moments.setdefault(kind, moment)
    taken = ago
    for kind, spans in named.items():
        if len(spans) <= _MOST_OF_A_KIND:
            taken += spans
            dates |= {kind: moments[kind]} if kind in moments else {}
    if len(bare) == 1:
        taken += bare
    if len(rights) == 1 and markdown.count("\n\n", rights[0][1]) < _ENDS:
        taken += rights
    return _without(markdown, sorted(taken)), dates


def iso_date(text: str) -> str | None:
    """Return a date or time in ISO 8601; None where the text is no date, or where day and month are ambiguous."""
    text = " ".join(text.split())
    if not text or len(text) > 60:
        return None
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return date.fromisoformat(text).isoformat()
        if re.match(r"\d{4}-?\d\d-?\d\d[T ]\d", text):
            return datetime.fromisoformat(text).isoformat()
        if numbers := re.fullmatch(r"(\d{4})[/.-](\d{1,2})[/.-](\d{1,2})", text):
            return date(*map(int, numbers.groups())).isoformat()
        words = re.fullmatch(
            _WEEKDAY + r"(\d{1,2})(?:\.|st|nd|rd|th)?\s([a-z]{3})[a-z]*\.?,?\s(\d{4})", text, re.IGNORECASE
        )
        if words and (month := _MONTHS.get(words[2].lower())):
            return date(int(words[3]), month, int(words[1])).isoformat()
        words = re.fullmatch(
            _WEEKDAY + r"([a-z]{3})[a-z]*\.?\s(\d{1,2})(?:st|nd|rd|th)?,?\s(\d{4})", text, re.IGNORECASE
        )
        if words and (month := _MONTHS.get(words[1].lower())):
            return date(int(words[3]), month, int(words[2])).isoformat()
        return parsedate_to_datetime(text).isoformat()
    except (ValueError, TypeError, IndexError):
        return None


def _may_hold_date(text: str) -> bool:
    """Whether a line has a digit, or a word of the times that are written without one; few lines have."""
    if _DIGIT.search(text):
        return True
    lowered = text.lower()
    return any(word in lowered for word in _WORDS_OF_AGO)


def _goes_on(markdown: str, candidate: re.Match[str]) -> bool:
    """Whether the line starts a list item of several lines."""
    return candidate["lead"] is not None and _INDENTED.match(markdown, candidate.end()) is not None


def _without(markdown: str, spans: list[tuple[int, int]]) -> str:
    pieces: list[str] = []
    end = 0
    for start, after in spans:
        pieces.append(markdown[end:start])
        begins_paragraph = start < 2 or markdown[start - 2 : start] == "\n\n"
        end = min(after + 1, len(markdown))
        while begins_paragraph and end < len(markdown) and markdown[end] == "\n":
            end += 1
    pieces.append(markdown[end:])
    return "".join(pieces)

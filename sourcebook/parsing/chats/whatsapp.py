"""Messages of WhatsApp: a text file whose lines begin as the language and the telephone of its owner write a time."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final, NamedTuple

from sourcebook.parsing.chats.chat import Chat, Message, name_of

_SPACE: Final = "[ \u00a0\u2009\u202f]"
_LINE: Final = re.compile(
    rf"^[\u200e\u200f]*(\[)?(\d{{1,4}})([./-])\s?(\d{{1,2}})\3\s?(\d{{1,4}})\.?[,،]?{_SPACE}+(\d{{1,2}})[:.](\d{{2}})"
    rf"(?:[:.](\d{{2}}))?(?:{_SPACE}*([ap]\.?{_SPACE}?m)\.?)?"
    rf"(?(1)\]{_SPACE}+|(?:{_SPACE}+[-–]{_SPACE}+|(?<=\d\d:\d\d:\d\d):{_SPACE}+|(?<=[ap]m):{_SPACE}+))(.*)$",
    re.MULTILINE | re.IGNORECASE,
)
"""Line with which a message begins: date, time, and the rest."""
_SPEAKER: Final = re.compile(r"[\u200e\u200f~\u202f\u00a0 ]*([^:\n]{1,80}?): ?(?!/)(.*)", re.DOTALL)
_LEVEL: Final = re.compile(
    r"(?i)trace|debug|info|information|notice|warn|warning|error|err|fatal|critical|alert|emerg|severe|fine|verbose"
)
_PROGRAM: Final = re.compile(r"[a-z][a-z0-9_.-]*(?:\[\d+\])?|.*[\]\[=/\\{}<>].*|[\w.]+\.(?:py|java|c|go|js|rb|php)\b.*")
_MEDIA: Final = re.compile(
    r"[<\u200e]*(?:\w+ ){1,3}(?:omitted|weggelassen|ausgeschlossen|omis\w*|omitid\w*|omess\w*|omes\w*)>?"
    r"|<(?:attached|anhang|pièce jointe|adjunto|anexado|allegato) ?: (?P<name>[^>\n]+)>"
    r"|(?P<file>[^\n<>]+\.\w{2,4}) "
    r"\((?:file attached|datei angehängt|archivo adjunto|fichier joint|file allegato|arquivo anexado)\)",
    re.IGNORECASE,
)
_LEAST_SHARE: Final = 0.5
"""Share of the messages that have a speaker: others say who joined, or that the chat is encrypted."""
_SAMPLE: Final = 500
_SEVERAL: Final = 3
"""Messages of a speaker that begin with the same words and a colon, which are then a part of the name."""


class _Line(NamedTuple):
    date: tuple[int, int, int]
    clock: tuple[int, int, int]
    said: str
    sign: str
    """Sign between the numbers of the date."""
    half: str
    """Half of the day as it is written."""


def whatsapp_chat(text: str) -> Chat | None:
    """Return the messages of a text; None where it is no export: a log, or a text that begins with a date."""
    head = _LINE.match(text.lstrip("\n\ufeff \t"))
    if head is None or not _looks_written(text[: 64 << 10]):
        return None
    lines = list(_lines(text))
    year, month, day = _order(lines)
    chat, colons = Chat(""), _names_with_colons(lines)
    for line in lines:
        spoken = _SPEAKER.fullmatch(line.said)
        if spoken is None:
            chat.notices += 1
            continue
        speaker, said = spoken[1], spoken[2].strip("\u200e\u200f \n")
        if more := colons.get(speaker):
            speaker, said = f"{speaker}: {more}", said.removeprefix(f"{more}:").lstrip()
        media = _MEDIA.fullmatch(said.partition("\n")[0])
        file = name_of((media["name"] or media["file"] or media[0].strip("<>\u200e")) if media else "")
        said = said.partition("\n")[2] if media else said
        date = line.date[year], line.date[month], line.date[day]
        chat.messages.append(
            Message(_time(*date, line.clock), name_of(speaker).lstrip("~ "), said, files=(file,) if file else ())
        )
    return chat if chat.messages else None


def _time(year: int, month: int, day: int, clock: tuple[int, int, int]) -> datetime | None:
    try:
        return datetime(year + 2000 if year < 100 else year, month, day, *clock)  # noqa: DTZ001 # no zone is written
    except ValueError:
        return None


def _names_with_colons(lines: Sequence[_Line]) -> dict[str, str]:
    """Return what follows the first colon of a name, by what stands before it: `Ulv: hafen` begins all its messages."""
    seen: dict[str, Counter[str]] = {}
    for line in lines:
        if (spoken := _SPEAKER.fullmatch(line.said)) is not None:
            second = _SPEAKER.fullmatch(spoken[2].partition("\n")[0])
            seen.setdefault(spoken[1], Counter())[second[1] if second else ""] += 1
    return {name: next(iter(words)) for name, words in seen.items() if len(words) == 1 and words.total() >= _SEVERAL}


def _looks_written(sample: str) -> bool:
    """Tell whether people speak: most lines with a time name somebody, and nobody is called INFO or `sshd[210]`."""
    found = [match[10] for match in _LINE.finditer(sample)][:_SAMPLE]
    speakers = [spoken[1].strip() for said in found if (spoken := _SPEAKER.fullmatch(said)) is not None]
    if len(found) < 2 or len(speakers) < _LEAST_SHARE * len(found):  # a single line is none
        return False
    return not any(_LEVEL.fullmatch(speaker) for speaker in speakers) and not all(map(_PROGRAM.fullmatch, speakers))


def _lines(text: str) -> Iterator[_Line]:
    """Yield the beginnings of messages, each with all lines up to the next one."""
    found = list(_LINE.finditer(text))
    for match, following in zip(found, [*found[1:], None], strict=True):
        first, second, third, hour, minute = (int(match[group]) for group in (2, 4, 5, 6, 7))
        half = match[9] or ""
        hour = hour % 12 + (12 if half[0] in "pP" else 0) if half else hour
        end = following.start() if following is not None else len(text)
        said = match[10] + text[match.end() : end].rstrip("\n")
        yield _Line((first, second, third), (hour, minute, int(match[8] or 0)), said, match[3], half)


def _order(lines: Sequence[_Line]) -> tuple[int, int, int]:
    """Return the places of year, month and day in the dates of a file.

    The right order gives the fewest impossible dates, then the fewest messages before an older one, then the fewest
    months. Where several do, days stand before months, unless the clock counts to twelve as in the United States.
    """
    by_day, by_month, *by_year = (2, 1, 0), (2, 0, 1), (0, 1, 2), (0, 2, 1)
    orders = [by_month, by_day] if lines[0].half in {"AM", "PM"} else [by_day, by_month]
    if lines[0].sign == ".":
        orders.remove(by_month)
    return min([*orders, *by_year], key=lambda order: _disorder(order, lines))


def _disorder(order: tuple[int, int, int], lines: Sequence[_Line]) -> tuple[int, int, int]:
    days = [tuple(line.date[place] for place in order) for line in lines]
    impossible = sum(not (1 <= day[1] <= 12 and 1 <= day[2] <= 31 and (order[0] or day[0] > 31)) for day in days)
    return impossible, sum(one > two for one, two in pairwise(days)), len({day[:2] for day in days})

"""Names of files in ZIP archives that do not say their encoding: that of the system which packed them."""

import re
import unicodedata
import zlib
from collections.abc import Callable, Iterable
from typing import Final
from zipfile import ZipInfo

_UTF_8: Final = 0x800
_UNICODE_PATH: Final = 0x7075
"""Field in which Info-ZIP and WinZip keep the name in UTF-8."""
_USUAL: Final = 0.7
"""Share of the East Asian characters that are among the usual ones of their encoding."""
_INSIDE: Final = re.compile(r"(?<=[A-Za-z])[^\x00-\x7f](?![^\x00-\x7f])|(?<![^\x00-\x7f])[^\x00-\x7f](?=[A-Za-z])")
"""Single character beside a Latin letter, as in a Latin word."""
_SYLLABLES: Final = frozenset(
    "가각간감강개거건검것게결경계고공과관광교구국군권그금기길김나남내년노는능다단달당대도동되된두드등디라람래량러레력로록"
    "론료류리린립마만말매며면명모목무문물미민바반발방배번법변별보본부북분비사산상새생서선설성세소속손송수술스습승시식신실심"
    "아안알야약양어업에여연영예오와완외요용우운원월위유은을음응의이인일임입있자작장재저적전정제조종주중증지직진질집차참창채"
    "책처천청체초총최추출충치카커크타탁태터토통투트특파판편평포표품프피필하학한합항해행향허험현형호화확환활회획효후"
)
_WORDS: Final = re.compile(r"[^\W\d_]+")


def member_names(entries: Iterable[ZipInfo]) -> dict[int, str]:
    """Return the names of an archive's entries by `id`, all in the one encoding that makes words of them."""
    entries = list(entries)
    unknown = [entry for entry in entries if not entry.flag_bits & _UTF_8 and not entry.orig_filename.isascii()]
    held = {id(entry): entry.orig_filename.encode("cp437", "replace") for entry in unknown}
    encoding = next((name for name, fits in _ENCODINGS if _fits_all(held.values(), name, fits)), "cp437")
    stated = {id(entry): entry.filename for entry in entries}
    return stated | {
        id(entry): _stated(entry, held[id(entry)]) or held[id(entry)].decode(encoding, "replace") for entry in unknown
    }


def _stated(entry: ZipInfo, name: bytes) -> str:
    """Return the name in UTF-8 that an entry has beside the other one, "" where it has none or one of another name."""
    rest = entry.extra
    while len(rest) >= 4:
        kind, size = int.from_bytes(rest[:2], "little"), int.from_bytes(rest[2:4], "little")
        field, rest = rest[4 : 4 + size], rest[4 + size :]
        if kind == _UNICODE_PATH and int.from_bytes(field[1:5], "little") == zlib.crc32(name):
            return field[5:].decode("utf-8", "ignore")
    return ""


def _fits_all(names: Iterable[bytes], encoding: str, fits: Callable[[str, str], bool]) -> bool:
    try:
        return all(fits(name.decode(encoding), encoding) for name in names)
    except UnicodeDecodeError:
        return False


def _usual(first: int, last: int, trail: int = 0x40) -> Callable[[str, str], bool]:
    """Return the test whether most characters of two bytes begin with those of the usual ones."""

    def is_usual(letter: str, encoded: bytes) -> bool:
        return (first <= encoded[0] <= last and encoded[1] >= trail) or unicodedata.category(letter) == "Lm"

    def fits(text: str, encoding: str) -> bool:
        wide = [letter for letter in text if len(letter.encode(encoding)) == 2]
        usual = sum(is_usual(letter, letter.encode(encoding)) for letter in wide)
        return bool(wide) and usual >= _USUAL * len(wide) and not _INSIDE.search(text)

    return fits


def _are_syllables(text: str, _: str) -> bool:
    """Tell whether most characters beyond ASCII are usual syllables of Korean, whose bytes are Chinese, too."""
    beyond = [letter for letter in text if not letter.isascii()]
    return bool(beyond) and sum(letter in _SYLLABLES for letter in beyond) >= _USUAL * len(beyond)


def _of_script(script: str) -> Callable[[str, str], bool]:
    """Return the test whether all letters beyond ASCII are of a script, and words mix no other and no capitals."""

    def fits(text: str, _: str) -> bool:
        words = [word for word in _WORDS.findall(text) if not word.isascii()]
        letters = [letter for letter in text if not letter.isascii()]
        is_own = all(unicodedata.name(letter, "").startswith(script) and letter.isalpha() for letter in letters)
        is_cased = all(word[1:].islower() or word.isupper() or len(word) == 1 for word in words)
        is_mixed = script != "LATIN" and any(any(map(str.isascii, word)) for word in words)
        return bool(words) and is_own and is_cased and not is_mixed

    return fits


_ENCODINGS: Final = (
    ("utf-8", lambda *_: True),
    ("cp866", _of_script("CYRILLIC")),
    ("cp932", _usual(0x82, 0x97)),
    ("euc-kr", _are_syllables),
    ("gbk", _usual(0xB0, 0xD7, 0xA1)),
    ("big5", _usual(0xA4, 0xC6)),
    *((name, _of_script("LATIN")) for name in ("cp437", "cp850", "cp1252", "cp852")),
    ("cp1251", _of_script("CYRILLIC")),
)
"""Encodings in the order in which they are tried, each with the test whether a name in it makes words."""

"""Guess of a text's encoding where it has no byte order mark and is not UTF-8."""

import re
from typing import Final

_LATIN: Final = (
    "cp1252",
    "cp1250",
    "cp1254",
    "cp1257",
    "iso8859-1",
    "iso8859-2",
    "iso8859-9",
    "iso8859-13",
    "iso8859-15",
)
_OTHER_SCRIPTS: Final = (
    "cp1251", "cp1253", "cp1255", "cp1256", "cp874",
    "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "koi8-r", "koi8-u",
)  # fmt: skip
_MULTIBYTE: Final = ("big5hkscs", "cp932", "cp949", "euc_jis_2004", "euc_kr", "gb18030", "shift_jis_2004")
_MAC: Final = "mac-roman"
_OLD_LATIN: Final = ("cp437", "cp850", "cp852", _MAC)
"""Encodings of DOS and the old Mac: candidates only if bytes within words are no letters in any Windows encoding."""
_DOS_CYRILLIC: Final = "cp866"
_ENOUGH_FOR_DOS: Final = 16
"""Non-ASCII bytes below which a text is not taken for DOS Cyrillic."""
_NO_LATIN_RUN: Final = 6
"""Non-ASCII bytes one behind the other that no word in Latin letters has."""
_READ_AS: Final = {
    "big5": "big5hkscs",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "shift_jis": "cp932",
}
"""Encodings by the smaller ones that they extend."""
_RUN = re.compile(rb"([A-Za-z]?)([\x80-\xff]+)([A-Za-z]?)")
_NO_LETTER_IN_WORD = re.compile(rb"[A-Za-z][\x81\x82\x84\x86-\x89\x8b\x90\x91\x93-\x95\x98\x99\x9b][A-Za-z]")

_MAC_LETTER = re.compile(rb"[a-z][\x87-\x9f\xa7][a-z]")
"""A letter of the old Mac within a word, among them those that Windows has for letters of other languages."""
_ENOUGH_FOR_MAC: Final = 2
"""Such letters from which on the old Mac is a candidate."""
_MAC_SHARP_S = re.compile(rb"[A-Za-z]\xa7[A-Za-z]")
"""German sharp s of the old Mac within a word, where Windows has a section sign."""


def guess_encoding(sample: bytes) -> str | None:
    """Return the name of the Python codec that most plausibly wrote a text; None if nothing fits."""
    from chardet import detect

    found = detect(sample, include_encodings=_candidates(sample), compat_names=False)["encoding"]
    return _READ_AS.get(found, found) if found else None


def _candidates(sample: bytes) -> list[str]:
    runs = _RUN.findall(sample)
    latin = sum(bool(before or after) or len(run) == 1 for before, run, after in runs)
    count = sum(len(run) for _, run, _ in runs)
    found = [*_LATIN, *_MULTIBYTE]
    if latin * 2 < len(runs) or max((len(run) for _, run, _ in runs), default=0) >= _NO_LATIN_RUN:
        found += _OTHER_SCRIPTS
        if count >= _ENOUGH_FOR_DOS:
            found.append(_DOS_CYRILLIC)
    if _NO_LETTER_IN_WORD.search(sample):
        found += _OLD_LATIN
    elif _MAC_SHARP_S.search(sample) or len(_MAC_LETTER.findall(sample)) >= _ENOUGH_FOR_MAC:
        found.append(_MAC)
    return found

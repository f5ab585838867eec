"""Decoding of text in an unknown encoding to text that PostgreSQL can store."""

import codecs
import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from sourcebook.parsing.text.legacy_encoding import guess_encoding

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# PostgreSQL stores neither NUL nor surrogates.
_SURROGATE = re.compile("[\ud800-\udfff]")
_MULTIBYTE_UTF8 = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}",
)
_SAMPLE_BYTES = 65_536
"""Bytes from which an encoding is guessed."""
_MOST_DAMAGE = 50
"""Characters per undecodable one, below which a guessed encoding is wrong."""
_SHORTEST_WIDE = 4
_ISO_2022_JP = re.compile(rb"\x1b\$[@B][\x21-\x7e]{2,}?\x1b\([BJ]")
"""Japanese in seven bits, between two escape sequences."""
_FEWEST: Final = 12
"""Characters from which on a text is taken for UTF-16."""
_MOST_LOOKED_AT: Final = 2048
_LEAST_TEXT: Final = 0.98
"""Share of letters, digits, punctuation and white space."""
_LEAST_OF_SCRIPT: Final = 0.95
"""Share of the characters that are in ASCII or in one block, as the letters of one language are."""
_FEWEST_SPACES: Final = 80
"""Characters per space, line or punctuation mark of ASCII or of East Asia at most."""
_MARKS: Final = frozenset(" \n\t\u3000\u3001\u3002\uff0c\uff01\uff1f")
_EAST_ASIAN: Final = ((0x3000, 0x30FF), (0x3400, 0x9FFF), (0xAC00, 0xD7AF), (0xFF00, 0xFFEF))


@dataclass(frozen=True, slots=True)
class DecodedText:
    """Text with LF newlines, without byte order mark, NUL characters and surrogates."""

    text: str
    encoding: str


def decode(content: bytes) -> DecodedText:
    """Decode by byte order mark, else as UTF-8, else in a guessed 8-bit or multi-byte encoding.

    Never fails: Windows-1252 and Latin-1 are the last resorts.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return DecodedText(clean(content[len(mark) :].decode(encoding, errors="replace")), encoding)
    wide = utf16_without_mark(content[:4096])
    if wide is not None:
        return DecodedText(clean(content.decode(wide, errors="replace")), wide)
    if _ISO_2022_JP.search(content[:_SAMPLE_BYTES]):
        return DecodedText(clean(content.decode("iso2022_jp_2", errors="replace")), "iso2022_jp_2")
    try:
        return DecodedText(clean(content.decode("utf-8")), "utf-8")
    except UnicodeDecodeError as error:
        return _decode_legacy(content, first_bad=error.start)


def clean(text: str) -> str:
    """Normalise newlines to LF, and remove NUL characters, surrogates and a byte order mark."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _without_surrogates(text.replace("\0", "")).removeprefix("\ufeff")


def without_characters(text: str, characters: str) -> str:
    """Remove a few characters, each on its own: a pattern for all of them takes several times as long."""
    for character in characters:
        text = text.replace(character, "")
    return text


def _without_surrogates(text: str) -> str:
    """Remove surrogates, which are looked for only where they keep the text from being encoded: that is quicker."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("", text)
    return text


def utf16_without_mark(head: bytes) -> str | None:
    """Return "utf-16-le" or "utf-16-be" where every other byte is mostly NUL, or all fits another script."""
    if len(head) < _SHORTEST_WIDE:
        return None
    if head.count(0) * 5 < len(head) * 2:
        return utf16_encoding(head)
    pairs = len(head) // 2
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd * 10 > pairs * 7 and even * 10 < pairs:
        return "utf-16-le"
    if even * 10 > pairs * 7 and odd * 10 < pairs:
        return "utf-16-be"
    return None


def _decode_legacy(content: bytes, *, first_bad: int) -> DecodedText:
    begin = max(0, first_bad - _SAMPLE_BYTES // 2)
    sample = content[begin : begin + _SAMPLE_BYTES]
    well_formed = len(_MULTIBYTE_UTF8.findall(sample))
    damaged = sample.decode("utf-8", errors="replace").count("\ufffd")
    if well_formed > 4 * damaged:
        return DecodedText(clean(content.decode("utf-8", errors="replace")), "utf-8 (damaged)")
    encoding = guess_encoding(sample) or "cp1252"
    text = content.decode(encoding, errors="replace")
    if text.count("\ufffd") * _MOST_DAMAGE > len(text):
        return DecodedText(clean(content.decode("latin-1")), "latin-1")
    return DecodedText(clean(text), encoding)


def utf16_encoding(head: bytes) -> str | None:
    """Return "utf-16-le" or "utf-16-be" where a text can be nothing else, else None."""
    if not head.count(0):
        return None
    head = head[: len(head) // 2 * 2][: 2 * _MOST_LOOKED_AT]
    return next((name for name in ("utf-16-le", "utf-16-be") if _is_text(head, name)), None)


def _is_text(head: bytes, encoding: str) -> bool:
    try:
        text = head.decode(encoding)
    except UnicodeDecodeError:  # of half a surrogate at the end, too: such a text is longer than what is looked at
        return False
    if len(text) < _FEWEST or "\0" in text or sum(map(text.count, _MARKS)) * _FEWEST_SPACES < len(text):
        return False
    shown = sum(unicodedata.category(letter)[0] in "LMNPZS" or letter in "\r\n\t" for letter in text)
    if shown < _LEAST_TEXT * len(text):
        return False
    beyond = [ord(letter) for letter in text if letter > "\x7f"]
    blocks = [code >> 8 for code in beyond]
    alphabet = max(map(blocks.count, set(blocks)), default=0) if len(set(blocks)) < len(blocks) else 0
    east = sum(any(first <= code <= last for first, last in _EAST_ASIAN) for code in beyond)
    return max(alphabet, east) + len(text) - len(beyond) >= _LEAST_OF_SCRIPT * len(text)

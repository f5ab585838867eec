"""Turn bytes into clean text: the encoding is found, newlines are LF, and nothing is left that Postgres refuses."""

import codecs
import re
from dataclasses import dataclass

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Postgres stores neither NUL nor half a surrogate pair.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_MULTIBYTE_UTF8 = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}",
)
_SAMPLE_BYTES = 65_536
_ENOUGH_FOR_DETECTION = 24
"""Non-ASCII bytes below which statistics guess worse than the Western default."""


@dataclass(frozen=True, slots=True)
class DecodedText:
    """Text with LF newlines, without byte order mark, NUL characters and surrogates."""

    text: str
    encoding: str


def decode(content: bytes) -> DecodedText:
    """Decode by byte order mark, then as UTF-8, then by what the bytes look like.

    Never fails: in the end every byte is read as Windows-1252 or Latin-1.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return DecodedText(clean(content[len(mark) :].decode(encoding, errors="replace")), encoding)
    wide = utf16_without_mark(content[:4096])
    if wide is not None:
        return DecodedText(clean(content.decode(wide, errors="replace")), wide)
    try:
        return DecodedText(clean(content.decode("utf-8")), "utf-8")
    except UnicodeDecodeError as error:
        return _decode_legacy(content, first_bad=error.start)


def clean(text: str) -> str:
    """Normalise newlines to LF and remove what cannot be stored."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _UNSTORABLE.sub("", text)
    return text.removeprefix("\ufeff")


def utf16_without_mark(head: bytes) -> str | None:
    """Return "utf-16-le" or "utf-16-be" where every other byte of `head` is mostly NUL, as in Western text."""
    if head.count(0) * 5 < len(head) * 2 or len(head) < 4:
        return None
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
    encoding = _guess(sample) or "cp1252"
    try:
        return DecodedText(clean(content.decode(encoding)), encoding)
    except (UnicodeDecodeError, LookupError):
        return DecodedText(clean(content.decode("latin-1")), "latin-1")


def _guess(sample: bytes) -> str | None:
    from charset_normalizer import from_bytes

    if sum(byte >= 0x80 for byte in sample) < _ENOUGH_FOR_DETECTION:
        return None
    best = from_bytes(sample).best()
    if best is None:
        return None
    try:
        # Where both read the sample alike, name the encoding a person knows.
        if str(best) == sample.decode("cp1252"):
            return "cp1252"
    except UnicodeDecodeError:
        pass
    return best.encoding

"""Phone numbers: by country code, by a word beside them, or by the numbering plan of a configured region."""

import re
from typing import Final

from sourcebook.redaction.context import Candidate

_WORDS: Final = (
    "phone|phones|telephone|tel|tél|mobile|mobil|cell|cellular|cellphone|fax|telefax|handy|landline|hotline|pager|gsm|whatsapp|signal"
    "|sms|telefon|telefoon|telefono|telefone|teléfono|téléphone|telefonnummer|telefonnr|rufnummer|handynummer|móvil|portable"
    "|cellulare|celular|desk|office|switchboard|dial|dialled|call|calls|called|calling|caller|ring|text me|texted"
    "|reach (?:me|us|him|her|them)|contact number|answering at|messages? to|registered|number on file"
    "|anrufen|wählen|appelez|llame|chiamare"
)
_WORDS_BEFORE: Final = re.compile(rf"(?i)\b(?:{_WORDS})\b")
_WORDS_AFTER: Final = re.compile(r"(?i)^[\s,;:(-]{0,3}(?:office|fax|mobile|cell|home|work|desk|phone|direct|tel)\b")
_YEAR: Final = r"(?:19|20)\d\d"
_DATE: Final = re.compile(
    rf"{_YEAR}[-./ ][01]?\d[-./ ][0-3]?\d(?:\D.*)?|[0-3]?\d[-./ ][0-3]?\d[-./ ]{_YEAR}(?:\D.*)?|{_YEAR} ?[-–/] ?{_YEAR}"
)
_EXTENSION: Final = re.compile(r"(?i)[ ,;]{0,2}(?:x|ext\.?|extension) ?\d+$")
_LONGEST: Final = 60
"""Bytes; a longer row of digits is no phone number."""
_FEWEST, _MOST = 7, 15
"""Digits of a phone number beside a word, and by E.164."""


def phone_length(candidate: Candidate) -> int:
    """Return how many characters of a candidate are a phone number; 0 where it is none."""
    if candidate.end - candidate.start > _LONGEST:
        return 0
    value = candidate.value
    if value.startswith("(") and ")" not in value:
        return 0
    plain = _EXTENSION.sub("", value)
    digits = sum(map(str.isdigit, plain))
    if not _FEWEST <= digits <= _MOST + 1:
        return 0
    before = candidate.before(40)
    if plain.lstrip("(").startswith(("+", "00")):
        if before[-1:].isalnum() or before[-1:] in (")", "]", "*", "/", ".", "-"):
            return 0
        return len(value) if _is_possible(re.sub(r"^\(?(?:\+|00)", "+", plain).replace("(0)", "")) else 0
    if before[-1:] in ("#", "$", "€", "£", "/", "=", "_", ".", "-", "+") or _DATE.fullmatch(plain):
        return 0
    if re.fullmatch(r"\d{1,3}(?:\.\d{1,3}){3}", plain) or re.fullmatch(r"\d+[.]\d+", plain):
        return 0
    if plain != value or _WORDS_BEFORE.search(_same_part(before)) or _WORDS_AFTER.match(candidate.after(14)):
        return len(value) if digits <= _MOST else 0
    if candidate.regions and re.search(r"\d\D+\d", plain):
        return len(value) if any(_is_valid(plain, region) for region in candidate.regions) else 0
    return 0


def _same_part(before: str) -> str:
    """Return the text before a number, on its own line or on the one above where nothing else stands on its own."""
    lines = before.split("\n")
    own = lines[-1]
    if own.strip() or len(lines) == 1:
        return own
    return next((line for line in reversed(lines[:-1]) if line.strip()), "")


def _is_possible(number: str) -> bool:
    import phonenumbers

    try:
        return phonenumbers.is_possible_number(phonenumbers.parse(number))
    except phonenumbers.NumberParseException:
        return False


def _is_valid(number: str, region: str) -> bool:
    import phonenumbers

    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(number, region))
    except phonenumbers.NumberParseException:
        return False

"""The redactor: placeholders in the place of personal data and secrets."""

import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

from sourcebook.redaction.categories import DEFAULT_CATEGORIES, KNOWN_CATEGORIES
from sourcebook.redaction.finds import Find, Redacted, Span, without_overlaps
from sourcebook.redaction.rules import Rule, compiled, escaped, own_rules, rules_of_file

_NUMBERS: Final = frozenset({"card", "iban", "phone", "national_id", "mac"})
_BY_SURROUNDINGS: Final = frozenset({"phone", "card", "national_id", "ip", "private_ip", "password", "secret", "name"})
"""Categories whose finds may need a word beside them."""
_SHORTEST_REPEATED, _LONGEST_REPEATED, _MOST_REPEATED = 6, 200, 1_000
_WITHOUT_CASE: Final = frozenset({"email", "iban", "national_id", "ip", "private_ip", "mac"})


class RedactionMemory:
    """Placeholders of one document: the same for the same value, counted by label in the order of the finds.

    It holds the values: it is for the time of one redaction, and is never logged; see `mapping` for the one way to keep
    them.
    """

    def __init__(self) -> None:
        self._placeholders: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}
        self._values: dict[str, str] = {}
        self._repeated: dict[str, tuple[str, str]] = {}
        self._pattern: Any = None

    def copy(self) -> "RedactionMemory":
        """Return a memory that knows the same values and learns new ones by itself."""
        copied = RedactionMemory()
        copied._placeholders, copied._counts = dict(self._placeholders), dict(self._counts)
        copied._values = dict(self._values)
        copied._repeated, copied._pattern = dict(self._repeated), self._pattern
        return copied

    def placeholder(self, category: str, label: str, value: str) -> str:
        """Return the placeholder of a value: `[EMAIL_1]`."""
        written, value = value, readable(value).text
        if category in _NUMBERS:
            value = "".join(filter(str.isalnum, value))
        if category in _WITHOUT_CASE:
            value = value.casefold()
        known = self._placeholders.get((label, value))
        if known is None:
            self._counts[label] = self._counts.get(label, 0) + 1
            known = self._placeholders[label, value] = f"[{label}_{self._counts[label]}]"
            self._values[known] = written
        return known

    def values(self) -> dict[str, str]:
        """Return the values by their placeholders, each as it was written first."""
        return dict(self._values)

    def remember(self, text: str, spans: Sequence[Span]) -> None:
        """Remember the values that were found by what stands around them: the same value is one elsewhere, too."""
        for span in spans:
            value = text[span.start : span.end]
            is_telling = any(map(str.isdigit, value)) or (span.category == "name" and " " in value)
            is_kept = span.category in _BY_SURROUNDINGS and _SHORTEST_REPEATED <= len(value) <= _LONGEST_REPEATED
            if is_kept and is_telling and len(self._repeated) < _MOST_REPEATED:
                self._pattern = None if value not in self._repeated else self._pattern
                self._repeated[value] = (span.category, span.label)

    def repetitions(self, text: str) -> list[Span]:
        """Return every place of a text where a remembered value stands."""
        if not self._repeated:
            return []
        if self._pattern is None:
            values = sorted(self._repeated, key=len, reverse=True)
            self._pattern = compiled("|".join(map(escaped, values)))
        return [
            Span(start, end, *self._repeated[text[start:end]])
            for start, end in (found.span() for found in self._pattern.finditer(text))
            if not (text[max(0, start - 1) : start].isalnum() or text[end : end + 1].isalnum())
        ]


class Redactor:
    """Finds what identifies or opens something in texts, and replaces it. Thread-safe."""

    def __init__(
        self,
        categories: Collection[str] = DEFAULT_CATEGORIES,
        regions: Sequence[str] = (),
        patterns: Path | None = None,
    ) -> None:
        """Load the rules.

        Args:
            categories: categories that are found, of `categories.KNOWN_CATEGORIES`.
            regions: ISO 3166 codes of the countries whose phone numbers are known without a country code.
            patterns: a YAML file of patterns of one's own, from labels to patterns of RE2.

        Raises:
            ConfigurationError: the file of patterns cannot be read, or one of its patterns is none.
            MissingDependencyError: the packages of the extra `server` are not installed.
            ValueError: there is no such category.
        """
        unknown = sorted(set(categories) - set(KNOWN_CATEGORIES))
        if unknown:
            raise ValueError(f"there is no category {', '.join(unknown)}; there is {', '.join(KNOWN_CATEGORIES)}")
        self._rules: list[Rule] = [rule for rule in own_rules() if rule.category in categories]
        if patterns is not None:
            self._rules += rules_of_file(patterns)
        literals = "|".join(rule.literals.pattern for rule in self._rules if rule.literals is not None)
        self._literals = compiled(literals) if literals else None
        self._without_literals = [rule for rule in self._rules if rule.literals is None]
        self._regions = tuple(regions)
        self._finds_names = "name" in categories

    def redact(self, text: str, memory: RedactionMemory | None = None) -> Redacted:
        """Return a text with placeholders in the place of what was found.

        Args:
            text: the text; for a passage of a document, see `documents.DocumentRedaction`.
            memory: placeholders that are known, so that several texts of a document share them; new by default.
        """
        memory = RedactionMemory() if memory is None else memory
        spans = self.spans(text)
        memory.remember(text, spans)
        return replaced(text, [*spans, *memory.repetitions(text)], memory)

    def spans(self, text: str) -> list[Span]:
        """Return what was found in a text, in reading order and without overlaps, in characters."""
        if not self._finds_names:
            return self._by_rules(text)
        from sourcebook.redaction.names import name_spans

        return without_overlaps([*self._by_rules(text), *name_spans(text)])

    def _possible(self, lowered: bytes) -> list[Rule]:
        """Return the rules that may find something in a text in lower case: most texts hold no word of any rule."""
        if self._literals is None or self._literals.search(lowered) is not None:
            return self._rules
        return self._without_literals

    def _by_rules(self, text: str) -> list[Span]:
        seen = readable(text)
        data = seen.text.encode("utf-8", "surrogatepass")
        lowered = data.lower()
        found = [
            Span(start, end, rule.category, rule.label)
            for rule in self._possible(lowered)
            for start, end in rule.finds(data, lowered, self._regions)
        ]
        if not found:
            return []
        merged = without_overlaps(found)
        if len(data) == len(seen.text) == len(text):
            return merged
        offsets = _characters(data, sorted(set(chain.from_iterable((span.start, span.end) for span in merged))))
        spans = (seen.span(offsets[span.start], offsets[span.end]) for span in merged)
        return [Span(*span, each.category, each.label) for span, each in zip(spans, merged, strict=True)]


def replaced(text: str, spans: Sequence[Span], memory: RedactionMemory) -> Redacted:
    """Return a text with placeholders in the place of spans; overlapping spans become one."""
    finds, pieces, last = [], [], 0
    for span in without_overlaps(spans):
        is_known = span.label.startswith("[")
        value = text[span.start : span.end]
        placeholder = span.label if is_known else memory.placeholder(span.category, span.label, value)
        finds.append(Find(span.category, span.start, span.end, placeholder))
        pieces += [text[last : span.start], placeholder]
        last = span.end
    return Redacted("".join([*pieces, text[last:]]), tuple(finds)) if finds else Redacted(text, ())


def _characters(data: bytes, offsets: Sequence[int]) -> dict[int, int]:
    """Return places in characters by places in bytes."""
    characters, last, places = 0, 0, {}
    for offset in offsets:
        characters += len(data[last:offset].decode("utf-8", "surrogatepass"))
        last = offset
        places[offset] = characters
    return places


_GONE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U000e0000-\U000e0fff"
)
_SPACES: Final = "\u2000-\u200a\u202f\u205f\u3000"
_DASHES: Final = "\u2010-\u2012\u2212\ufe58\ufe63\uff0d"
_ZEROS: Final = (0x0660, 0x06F0, 0x0966, 0x09E6, 0x0E50, 0xFF10)
"""Zeros of Arabic, Persian, Devanagari, Bengali, Thai and full-width digits; the other nine stand behind each."""
_DIGITS: Final = {zero + digit: str(digit) for zero in _ZEROS for digit in range(10)}
_WIDE: Final = {0xFEE0 + ord(sign): sign for sign in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz@.:+/=_"}
_OTHERS: Final = "".join(map(chr, chain(_DIGITS, _WIDE)))
_CHANGED: Final = re.compile(
    rf"(?P<gone>[{_GONE}]|\\(?=[!-/:-@\[-`{{-~]))|(?P<space>[{_SPACES}])|(?P<dash>[{_DASHES}])|[{_OTHERS}]"
)


@dataclass(frozen=True, slots=True)
class Readable:
    """A text to be searched, and where its characters stand in the original."""

    text: str
    _places: tuple[int, ...] = ()
    """Places in the text before which something was left out, ascending."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of the text stands in the original, with what was left out within it."""
        return self._place(start), self._place(end - 1) + 1

    def _place(self, place: int) -> int:
        return place + bisect_right(self._places, place)


def readable(text: str) -> Readable:
    """Return a text as a reader sees it; the text itself where nothing in it is to be changed.

    A value with a soft hyphen, with a narrow space between its groups, or with backslashes of Markdown or quoted JSON
    is the same value to who reads it, and to a context for a language model, which leaves these characters out.
    """
    first = None if text.isascii() and "\\" not in text else _CHANGED.search(text)
    if first is None:
        return Readable(text)
    pieces, places, last, length = [], [], 0, 0
    for found in _CHANGED.finditer(text, first.start()):
        length += found.start() - last
        shown = _shown(found)
        pieces += [text[last : found.start()], shown]
        length += len(shown)
        if not shown:
            places.append(length)
        last = found.end()
    return Readable("".join([*pieces, text[last:]]), tuple(places))


def _shown(found: re.Match[str]) -> str:
    if found["gone"] is not None:
        return ""
    if found["space"] is not None:
        return " "
    if found["dash"] is not None:
        return "-"
    code = ord(found[0])
    return _DIGITS.get(code) or _WIDE[code]

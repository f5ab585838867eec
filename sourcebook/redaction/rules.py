"""Rules of redaction: patterns of rules.yaml and of a file of one's own, compiled by RE2."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sourcebook.errors import ConfigurationError, MissingDependencyError
from sourcebook.redaction.categories import LABELS
from sourcebook.redaction.context import Candidate

if TYPE_CHECKING:
    from sourcebook.redaction.checks import Check

_OF_DIGITS: Final = frozenset({"card", "iban", "national_id", "ip", "private_ip", "mac", "phone"})
"""Categories whose finds hold a digit."""
_FILE: Final = Path(__file__).with_name("rules.yaml")
_LARGEST_FILE: Final = 1_000_000
_MOST_OWN: Final = 200
_LONGEST_PATTERN: Final = 1_000
_LONGEST_LABEL: Final = 40
_MEMORY: Final = 16 << 20
"""Bytes that RE2 may use for the states of one pattern."""
_WINDOW: Final = 4_096
_OVERLAP: Final = 1_024
"""Bytes of a window that a pattern of one's own is tried on, and bytes that it shares with the next window: what it may
look ahead is bounded, so that the time grows with the text alone. A match that goes on is
followed."""
_RETRIED: Final = 200
"""Bytes of the longest refused match in which another one is looked for."""
_MOST_RETRIES: Final = 3
"""Refused matches within one another, after which the search goes on behind them."""
_WORD_SIGN: Final = re.compile(rb"[0-9A-Za-z]")
_DIGITS: Final = re.compile(rb"[0-9]")
_WORD: Final = re.compile(rb"[0-9A-Za-z]*")


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern with its conditions."""

    category: str
    label: str
    """Label of the placeholders."""
    pattern: Any
    """RE2's compiled pattern."""
    literals: Any = None
    """Pattern of the words that a text must hold, in lower case: one pass for all of them."""
    check: Check | None = None
    words: re.Pattern[str] | None = None
    is_bounded: bool = True
    is_own: bool = False
    needs_digits: bool = False

    def finds(self, data: bytes, lowered: bytes, regions: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield (start, end) of the finds in a text, in bytes.

        Args:
            data: the text as UTF-8.
            lowered: the same in lower case.
            regions: countries whose phone numbers are known without a country code.
        """
        if self.literals is not None and self.literals.search(lowered) is None:
            return
        if self.needs_digits and not _DIGITS.search(data):
            return
        for window, stop in _windows(len(data)) if self.is_own else [(0, len(data))]:
            shared = stop - _OVERLAP if self.is_own and stop < len(data) else stop
            yield from self._in_window(data, window, stop, shared, regions)

    def _in_window(
        self, data: bytes, place: int, stop: int, shared: int, regions: Sequence[str]
    ) -> Iterator[tuple[int, int]]:
        """Yield the finds that begin between `place` and `shared`, and end at `stop` at the latest."""
        refused_to, retries = 0, 0
        while place < shared and (found := self.pattern.search(data, place, stop)) is not None:
            start, end = found.span()
            if start >= shared:
                return
            begin, close = self._narrowed(found)
            if self.is_own and close == stop < len(data):
                close = self._whole_end(data, start, stop)
            taken = self._taken(Candidate(data, begin, close, regions)) if begin < close else 0
            if taken:
                yield begin, begin + taken
                place = max(begin + taken, start + 1)
                continue
            retries = retries + 1 if start < refused_to else 1
            refused_to = max(refused_to, end)
            if retries > _MOST_RETRIES or end - start > _RETRIED:
                place = end
            else:
                place = _end_of_word(data, start) if self.is_bounded else start + 1

    def _narrowed(self, found: Any) -> tuple[int, int]:
        """Return the span of the group that matched, or of the whole match."""
        spans: Iterator[tuple[int, int]] = map(found.span, range(1, self.pattern.groups + 1))
        whole: tuple[int, int] = found.span()
        return next((span for span in spans if span[0] >= 0), whole)

    def _whole_end(self, data: bytes, start: int, stop: int) -> int:
        """Return the end of a match that the end of its window has cut; the time grows with its length alone."""
        close, size = stop, stop - start
        while close == stop < len(data):
            size *= 2
            stop = min(start + size, len(data))
            found = self.pattern.search(data, start, stop)
            if found is None or found.start() != start:
                break
            close = max(close, self._narrowed(found)[1])
        return close

    def _taken(self, candidate: Candidate) -> int:
        """Return the number of bytes of a candidate that are a find."""
        data, start, end = candidate.data, candidate.start, candidate.end
        if self.is_bounded and (
            (start > 0 and _WORD_SIGN.match(data, start - 1) and _WORD_SIGN.match(data, start))
            or (_WORD_SIGN.match(data, end) and _WORD_SIGN.match(data, end - 1))
        ):
            return 0
        if self.words is not None and not self.words.search(candidate.before()):
            return 0
        if self.check is None:
            return end - start
        characters = self.check(candidate)
        if characters == 0:
            return 0
        value = candidate.value
        if characters == len(value):
            return end - start
        longer = value + candidate.after(characters * 4) if characters > len(value) else value
        return len(longer[:characters].encode("utf-8", "surrogatepass"))


def _end_of_word(data: bytes, place: int) -> int:
    """Return the end of the letters and digits from the character after `place`."""
    found = _WORD.match(data, place + 1)
    return found.end() if found is not None else place + 1


def _windows(length: int) -> Iterator[tuple[int, int]]:
    start = 0
    while True:
        stop = min(start + _WINDOW, length)
        yield start, stop
        if stop == length:
            return
        start = stop - _OVERLAP


@lru_cache(maxsize=1)
def own_rules() -> tuple[Rule, ...]:
    """Return the rules of rules.yaml.

    Raises:
        MissingDependencyError: the packages of the extra `server` are not installed.
    """
    return tuple(_rule(entry) for entry in _read(_FILE))


def _rule(entry: Mapping[str, Any]) -> Rule:
    words = "|".join(map(re.escape, entry.get("words", ())))
    return Rule(
        entry["category"],
        LABELS[entry["category"]],
        compiled(entry["pattern"]),
        compiled("|".join(map(escaped, entry["literals"]))) if "literals" in entry else None,
        _check(entry["check"]) if "check" in entry else None,
        re.compile(rf"(?i)\b(?:{words})\b") if words else None,
        entry.get("bounded", True),
        needs_digits=entry["category"] in _OF_DIGITS,
    )


def _check(name: str) -> Check:
    for module in ("checks", "identity_numbers"):
        found: Check | None = getattr(import_module(f"sourcebook.redaction.{module}"), name, None)
        if found is not None:
            return found
    raise LookupError(name)


def compiled(pattern: str) -> Any:
    """Return a pattern compiled by RE2.

    Raises:
        MissingDependencyError: google-re2 is not installed.
        ValueError: RE2 does not accept the pattern.
    """
    try:
        import re2
    except ImportError as error:
        from sourcebook.installation import install_command

        raise MissingDependencyError(
            "redaction needs google-re2, phonenumbers and python-stdnum; install them with  "
            f"{install_command('server')}"
        ) from error
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0].decode(errors="replace") if error.args and isinstance(error.args[0], bytes) else error
        raise ValueError(str(reason)) from error


def escaped(text: str) -> str:
    """Return a pattern that matches a text literally."""
    return re.sub(r"([^0-9A-Za-z_\s\x80-\U0010ffff])", r"\\\1", text)


def _read(path: Path) -> Any:
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))


def rules_of_file(path: Path) -> tuple[Rule, ...]:
    """Return the rules of a file of one's own: a mapping from labels to patterns, such as `EMPLOYEE: 'E-[0-9]{6}'`.

    Raises:
        ConfigurationError: the file cannot be read, or one of its patterns is none.
        MissingDependencyError: the packages of the extra `server` are not installed.
    """
    from ruamel.yaml.error import YAMLError

    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise ConfigurationError(f"{path}: a file of patterns has at most {_LARGEST_FILE:,} bytes; split it")
        content = _read(path)
    except (OSError, UnicodeDecodeError, YAMLError) as error:
        raise ConfigurationError(f"{path}: the patterns of redaction cannot be read: {error}") from error
    if not isinstance(content, dict) or len(content) > _MOST_OWN:
        raise ConfigurationError(f"{path}: it is no mapping from labels to patterns, of at most {_MOST_OWN} lines")
    return tuple(_own_rule(path, label, pattern) for label, pattern in content.items())


def _own_rule(path: Path, label: object, pattern: object) -> Rule:
    if not isinstance(label, str) or not re.fullmatch(rf"[A-Z][A-Z0-9_]{{0,{_LONGEST_LABEL - 1}}}", label):
        raise ConfigurationError(
            f"{path}: {label!r} is no label; write capital letters, digits and _, such as EMPLOYEE"
        )
    if not isinstance(pattern, str) or not 0 < len(pattern) <= _LONGEST_PATTERN:
        raise ConfigurationError(f"{path}: the pattern of {label} is a text of at most {_LONGEST_PATTERN:,} characters")
    try:
        rule = compiled(pattern)
    except ValueError as error:
        raise ConfigurationError(f"{path}: the pattern of {label} is none of RE2: {error}") from error
    if rule.search(b"") is not None:
        raise ConfigurationError(f"{path}: the pattern of {label} matches the empty text; make it need a character")
    return Rule(label.lower(), label, rule, is_bounded=False, is_own=True)

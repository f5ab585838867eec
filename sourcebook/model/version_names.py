"""Versions in names of files: `contract_v2`, `contract-2024-03` and `contract final` are versions of one contract."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

_NUMBER: Final = r"\d+(?:[._]\d+)*[a-z]?"
_SAID: Final = re.compile(
    "(?:v|ver|version|versión|versão|versione|versie|fassung|версия|rev|revision|révision|revisión|редакция)"
    rf"[-.]?(?:{_NUMBER}|[a-z])"
)
"""A mark that says that it is one."""
_WORD: Final = re.compile(
    "final|finale|draft|entwurf|endfassung|brouillon|borrador|bozza|concept|definitief|definitiv|черновик|"
    "old|alt|neu|new|previous|current|latest|original|revised|amended|updated|signed|unterschrieben|redline|clean"
)
_LATE: Final = {
    "final",
    "finale",
    "endfassung",
    "definitief",
    "definitiv",
    "signed",
    "unterschrieben",
    "latest",
    "new",
    "neu",
}
_EARLY: Final = {"draft", "entwurf", "brouillon", "borrador", "bozza", "concept", "черновик", "old", "alt", "previous"}
_DATE: Final = re.compile(r"(?:19|20)\d\d(?:[-._]?(?:0[1-9]|1[0-2])(?:[-._]?(?:0[1-9]|[12]\d|3[01]))?)?")
_DAY_FIRST: Final = re.compile(r"(0?[1-9]|[12]\d|3[01])[-._](0?[1-9]|1[0-2])[-._]((?:19|20)\d\d)")
_COPY: Final = re.compile(r"(?:copy|kopie|copie|copia|cópia|копия)(?:-?(?:of|von|de|di))?|\d{1,3}")
_MARK: Final = re.compile(
    rf"(?:(?P<said>{_SAID.pattern})|(?P<word>{_WORD.pattern})|(?P<day>{_DAY_FIRST.pattern})|(?P<date>{_DATE.pattern})"
    rf"|(?P<copy>{_COPY.pattern}))"
)
_LAST: Final = re.compile(rf"(?:^|-){_MARK.pattern}$")
_FIRST: Final = re.compile(rf"^{_MARK.pattern}(?:-+|$)")
_EXTENSION: Final = re.compile(r"(?:\.[a-z][a-z0-9]{0,7}){1,2}$")
_SEPARATORS: Final = re.compile(r"[\s_–—,;-]+|\.(?=\D|$)|(?<=\D)\.")
_NUMBER_PARTS: Final = re.compile(r"(?<=v\d)_(?=\d{1,2}(?!\d))")
_BRACKETS: Final = re.compile(r"[(\[]([^)\]]*)[)\]]")
_SAID_IN_TEXT: Final = _SAID.pattern.replace("[-.]?", "[-. ]{0,2}").replace("|[a-z])", ")")
_IN_TEXT: Final = re.compile(
    rf"(?<![\w.-])(?:{_SAID_IN_TEXT}"
    rf"|{_DAY_FIRST.pattern}|{_DATE.pattern})(?![\w-])",
    re.IGNORECASE,
)
_ASIDE: Final = frozenset({"archive", "archiv", "archives", "old", "alt", "drafts", "entwürfe", "versions", "previous"})
"""Names of folders beside which the present version stands."""


@dataclass(frozen=True, slots=True)
class VersionName:
    """A name without the marks of its version, and these."""

    base: str
    """Words with hyphens between them, as in `supply-contract`; empty where the name is a mark."""
    label: str
    """The marks as they are written, such as `v2 final`; empty for a name without any."""
    order: tuple[tuple[int, tuple[int, ...]], ...]
    """Later versions are greater."""
    is_said: bool
    """Whether every mark says that it is one of a version: a date or a number may be anything."""


@lru_cache(maxsize=65_536)
def version_name(text: str) -> VersionName:
    """Return a name of a file, or a title, without the marks at its beginning and its end."""
    rest = unicodedata.normalize("NFC", unquote(text)).casefold().strip()
    rest = _BRACKETS.sub(r" \1", _NUMBER_PARTS.sub(".", _EXTENSION.sub("", rest)))
    rest = _SEPARATORS.sub("-", rest).strip("-")
    marks: list[re.Match[str]] = []
    while found := (_LAST.search(rest) if rest else None):
        marks.insert(0, found)
        rest = rest[: found.start()].rstrip("-")
    while found := (_FIRST.match(rest) if rest else None):
        if found["copy"] and found["copy"].isdigit():
            break  # `3-phase-motors`
        marks.append(found)
        rest = rest[found.end() :].strip("-")
    label = " ".join(found[0].strip("-") for found in marks)
    said = all(found["said"] or (found["word"] and found.start()) for found in marks)  # `new hires` are no version
    return VersionName(rest, label, tuple(sorted(map(_order, marks), reverse=True)), said)


@lru_cache(maxsize=65_536)
def version_of(uri: str) -> VersionName:
    """Return the version that a file is by its name and its folders, whose marks are left out of `base`, too."""
    *folders, file = uri.partition("#")[0].rstrip("/").split("/")
    own = version_name(file)
    places = [(each, version_name(each)) for each in folders]
    kept = [each for each, name in places if not each or not (each.casefold() in _ASIDE or _is_mark(name))]
    marks = [name for each, name in places if _is_mark(name)]
    by = own if own.label or not marks else marks[-1]
    is_said = own.is_said and all(each.is_said for each in marks)
    return VersionName("/".join([*map(unquote, kept), own.base]), by.label, by.order, is_said)


def orders_in(text: str) -> list[tuple[int, tuple[int, ...]]]:
    """Return the versions that a question names by numbers and dates, such as `v1` and `version 2`, in their order."""
    found: list[tuple[int, tuple[int, ...]]] = []
    for mark in _IN_TEXT.finditer(text.casefold()):
        name = version_name(re.sub(r"[\s.]*\s+", "-", mark[0]))
        found += [] if name.base else name.order[:1]
    return list(dict.fromkeys(found))


def without_versions(text: str) -> str:
    """Return a question without the versions that it names."""
    return _IN_TEXT.sub(" ", text)


def is_named(order: tuple[int, tuple[int, ...]], name: VersionName) -> bool:
    """Return whether a question's version is that of a name; a year is that of all its days."""
    return any(kind == order[0] and numbers[: len(order[1])] == order[1] for kind, numbers in name.order)


def _is_mark(name: VersionName) -> bool:
    return not name.base and bool(name.order) and name.order[0][0] > 1


def _order(mark: re.Match[str]) -> tuple[int, tuple[int, ...]]:
    """Return the order of a mark: numbers of versions decide before dates, these before words, these before copies."""
    if mark["said"]:
        numbers = tuple(int(each) for each in re.findall(r"\d+", mark["said"]))
        letter = mark["said"][-1]
        return 4, numbers or (ord(letter),)
    if mark["day"]:
        day, month, year = (int(each) for each in re.findall(r"\d+", mark["day"]))
        return 3, (year, month, day)
    if mark["date"]:
        digits = re.sub(r"\D", "", mark["date"])
        return 3, tuple(int(each) for each in (digits[:4], digits[4:6], digits[6:8]) if each)
    if mark["word"]:
        return 2, (2 if mark["word"] in _LATE else 0 if mark["word"] in _EARLY else 1,)
    return 1, tuple(int(each) for each in re.findall(r"\d+", mark["copy"])) or (0,)

"""Labels of form fields: each field becomes `label: value`, at the place of both."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TypeGuard

from sourcebook.parsing.pdf.layout.form_fields import EMPTY, Entry, FieldLine
from sourcebook.parsing.pdf.layout.lines.rows import side_by_side
from sourcebook.parsing.pdf.layout.measures import NEAR, Rectangle, are_beside, around
from sourcebook.parsing.pdf.layout.page_parts import Line

_BAND = 24
"""Height of the bands in which neighbours are looked up, in points."""
_CLOSE = 2.5
"""Largest distance of a label that is surely that of the field beside it, in font sizes."""
_ABOVE = 1.2
"""Largest distance of a label above or below its field, in heights of the label."""
_INDENT = 2.0
"""Distance by which a label above a field may begin left of it, in font sizes."""
_FAR = 40.0
"""Largest distance of a label in a column of its own, in font sizes."""
_GOES_ON = re.compile(r"[^\W\dA-Z_]*[a-zß-ÿ(,;.)%€$°/–-]")
"""Beginning of a text that goes on after a field, such as a unit or the rest of a sentence."""
_MOST_FIELDS = 1_500
"""Fields of a page above which no labels are looked for."""
_LONGEST_UNIT = 8
"""Letters of a unit behind a field, such as `Euro`."""
_BEFORE_STOP = re.compile(r" (?=[,.;)])")
_MARKS = re.compile(r"[\s:：_.…]+$")


@dataclass(slots=True)
class _Pair:
    """A label and what was written behind it."""

    labels: list[Line]
    fields: list[FieldLine]
    parts: list[str] = field(default_factory=list)
    more: list[Line] = field(default_factory=list)
    """Texts among the parts."""
    beside: list["_Pair"] = field(default_factory=list)
    """Further columns of a row without lines around its fields."""

    @property
    def text(self) -> str:
        """Label and value."""
        name = next((one.of.name for one in self.fields if one.of.name), "")
        label = _MARKS.sub("", " ".join(line.text for line in self.labels)) or name
        value = _BEFORE_STOP.sub("", " ".join(self.parts))
        return f"{label}{'' if not label else ' ' if label[-1] in '?!,;(' else ': '}{value}"

    @property
    def members(self) -> list[Line]:
        """Its lines; those that are labels of more than one field are where their first field is."""
        own: list[Line] = [*self.labels, *self.fields, *self.more]
        near = [line for line in own if line.bottom > self.fields[0].top - _BAND]
        return [*near, *(line for pair in self.beside for line in pair.members)]

    def entry(self, order: int) -> Entry:
        """Return label and value as one line."""
        text = "; ".join([self.text, *(pair.text for pair in self.beside)])
        size = min(one.size for one in self.members)
        return Entry(text, *_edges(self.members), size=size, order=order)


def with_entries(lines: Sequence[Line]) -> list[Line]:
    """Return the lines outside of tables, fields joined with the lines that are their labels."""
    fields = [line for line in lines if isinstance(line, FieldLine)]
    if not fields:
        return list(lines)
    if len(fields) > _MOST_FIELDS:
        return [
            _Pair([], [line], [line.text]).entry(line.order) if isinstance(line, FieldLine) else line for line in lines
        ]
    return list(_Pairing([line for line in lines if not isinstance(line, FieldLine)], fields).lines())


class _Pairing:
    """Search for the labels of a page's fields, the surest first."""

    def __init__(self, texts: Sequence[Line], fields: Sequence[FieldLine]) -> None:
        self._texts = texts
        self._notes = [one for one in fields if one.of.kind == "note"]
        self._values = [one for one in fields if one.of.kind == "text"]
        self._ticks = [one for one in fields if one.of.kind == "tick"]
        self._taken: set[int] = set()
        self._bands: dict[int, list[Line]] = defaultdict(list)
        for line in (*(text for text in texts if not text.turned), *self._values, *self._ticks):
            for band in _bands(line):
                self._bands[band].append(line)

    def lines(self) -> Iterator[Line]:
        """Yield the texts that are no labels, and the entries."""
        pairs = [*self._of_ticks(), *self._of_values()]
        texts = sorted(self._texts, key=lambda line: line.top)
        for pair in pairs:
            if pair.parts != [EMPTY] or pair.labels or any(one.of.name for one in pair.fields):
                yield pair.entry(_order(pair.labels or texts, pair.fields[0]))
        for one in self._notes:
            yield Entry(one.text, *_edges([one]), size=one.size, order=_order(texts, one))
        yield from (text for text in self._texts if id(text) not in self._taken)

    def _of_values(self) -> list[_Pair]:
        labels: dict[int, list[Line]] = {}
        inherited: dict[tuple[int, int], list[Line]] = {}
        ordered = [one for row in _rows(self._values) for one in row]
        for find in (self._close, self._above, self._left, self._inside, self._below):
            for one in ordered:
                if id(one) not in labels and (nearest := find(one)) is not None:
                    labels[id(one)] = self._take(nearest, upwards=find == self._above)
        pairs: list[_Pair] = []
        for one in ordered:
            label, last = labels.get(id(one), []), pairs[-1] if pairs else None
            column = round(one.left / NEAR), round(one.right / NEAR)
            if not label and column in inherited and isinstance(self._next_above(one), FieldLine):
                label = inherited[column]  # a further row below the title of a column
            elif last is not None and self._goes_on(last, label, one):
                last.parts += [*(text.text for text in label), one.text]
                last.more += label
                last.fields.append(one)
                continue
            inherited[column] = label
            pairs.append(_Pair(label, [one], [one.text]))
        for pair in pairs:
            behind = self._beside(pair.fields[-1], right=True)
            if self._is_free(behind) and _gap(pair.fields[-1], behind) <= behind.size and _is_unit(behind.text):
                pair.parts.append(behind.text)
                pair.more += self._take(behind)
        titles = Counter(id(pair.labels[0]) for pair in pairs if pair.labels)
        return list(_by_rows(pairs, {title for title, rows in titles.items() if rows > 1}))

    def _goes_on(self, last: _Pair, label: Sequence[Line], one: FieldLine) -> bool:
        """Tell whether a field belongs to the one before it on its line: a date's month, the next gap in a sentence."""
        before = last.fields[-1]
        if not are_beside(before, one) or one.left < before.right - NEAR:
            return False
        if not label:
            return bool(last.labels) and one.left - before.right <= 1.5 * min(one.height, before.height)
        first, text = label[0], label[-1].text
        return _gap(before, first) <= 1.5 * first.size and _GOES_ON.match(first.text) is not None and text[-1:] != ":"

    def _of_ticks(self) -> Iterator[_Pair]:
        options: dict[int, list[Line]] = {}
        groups: dict[object, list[FieldLine]] = defaultdict(list)
        shared = defaultdict[str, int](int)
        for one in self._ticks:
            shared[one.of.group] += 1
        for number, ticks in enumerate(_rows(self._ticks)):
            first, last = ticks[0], ticks[-1]
            behind, before = self._beside(last, right=True), self._beside(first)
            far = behind is None or isinstance(behind, FieldLine) or _gap(last, behind) > _CLOSE * behind.size
            for one in ticks:
                option = self._left(one) if far and self._is_free(before) else self._behind(one)
                options[id(one)] = [] if option is None else self._take(option)
            question = self._left(first)
            asks = question is not None and (len(ticks) > 1 or question.text.rstrip()[-1:] in ":?")
            for one in ticks:
                of_row = ("row", number) if asks else ("tick", id(one))
                groups[one.of.group if shared[one.of.group] > 1 and one.of.group else of_row].append(one)
        for key, ticks in groups.items():
            if key == ("tick", id(ticks[0])):
                yield _Pair(options[id(ticks[0])], ticks, ["yes" if ticks[0].of.on else "no"])
                continue
            question = self._left(ticks[0]) or self._above(ticks[0])
            names = [" ".join(line.text for line in options[id(one)]) or one.of.value for one in ticks]
            chosen = [name for name, one in zip(names, ticks, strict=True) if one.of.on]
            others = [name for name, one in zip(names, ticks, strict=True) if not one.of.on]
            rest = [f"(not chosen: {', '.join(others)})"] if others else []
            label = [] if question is None else self._take(question, upwards=True)
            yield _Pair(
                label, ticks, [", ".join(chosen) or EMPTY, *rest], [line for one in ticks for line in options[id(one)]]
            )

    def _take(self, label: Line, *, upwards: bool = False) -> list[Line]:
        """Take a label with its further lines, so that no other field has it."""
        self._taken.add(id(label))
        found = [label]
        while (line := self._further(found[0] if upwards else found[-1], upwards=upwards)) is not None:
            self._taken.add(id(line))
            found.insert(0 if upwards else len(found), line)
        return found

    def _further(self, line: Line, *, upwards: bool) -> Line | None:
        """Return the line above or below that a label goes on from or in."""
        if upwards and not line.text[:1].islower():
            return None
        for other in self._near(line):
            gap = line.top - other.bottom if upwards else other.top - line.bottom
            flush = abs(other.left - line.left) <= NEAR and -NEAR <= gap <= 0.6 * line.height
            if flush and other is not line and self._is_free(other) and (upwards or _GOES_ON.match(other.text)):
                return other
        return None

    def _close(self, one: FieldLine) -> Line | None:
        label = self._left(one)
        return label if label is not None and _gap(label, one) <= _CLOSE * label.size else None

    def _left(self, one: FieldLine) -> Line | None:
        label = self._beside(one)
        return label if self._is_free(label) and _gap(label, one) <= _FAR * label.size else None

    def _behind(self, one: FieldLine) -> Line | None:
        label = self._beside(one, right=True)
        return label if self._is_free(label) and _gap(one, label) <= _CLOSE * label.size else None

    def _beside(self, one: Line, *, right: bool = False) -> Line | None:
        beside = [other for other in self._near(one) if other is not one and are_beside(one, other)]
        if right:
            return min((o for o in beside if o.left >= one.right - NEAR), key=lambda o: o.left, default=None)
        return max((o for o in beside if o.right <= one.left + NEAR), key=lambda o: o.right, default=None)

    def _above(self, one: FieldLine) -> Line | None:
        label = self._next_above(one)
        flush = label is not None and label.left >= one.left - _INDENT * label.size
        return label if flush and self._is_free(label) else None

    def _next_above(self, one: Line) -> Line | None:
        above = [other for other in self._near(one) if _is_below(other, one)]
        return max(above, key=lambda other: other.bottom, default=None)

    def _below(self, one: FieldLine) -> Line | None:
        below = [other for other in self._near(one) if _is_below(one, other) and self._is_free(other)]
        label = min(below, key=lambda other: other.top, default=None)
        return label if label is not None and label.left >= one.left - _INDENT * label.size else None

    def _inside(self, one: FieldLine) -> Line | None:
        inside = [o for o in self._near(one) if one.left <= o.centre <= one.right and one.top <= o.middle <= one.bottom]
        return min((other for other in inside if self._is_free(other)), key=lambda other: other.top, default=None)

    def _near(self, one: Line) -> Iterable[Line]:
        return {id(other): other for band in _bands(one, 1) for other in self._bands.get(band, ())}.values()

    def _is_free(self, line: Line | None) -> TypeGuard[Line]:
        return line is not None and not isinstance(line, FieldLine) and id(line) not in self._taken


def _by_rows(pairs: Sequence[_Pair], titles: AbstractSet[int]) -> Iterator[_Pair]:
    """Yield the pairs, those side by side below titles of columns as one.

    Args:
        pairs: from the top and from the left.
        titles: ids of labels of more than one field.
    """
    last: _Pair | None = None
    for pair in pairs:
        in_column = bool(pair.labels) and id(pair.labels[0]) in titles
        if in_column and last is not None and are_beside(last.fields[0], pair.fields[0]):
            last.beside.append(pair)
            continue
        last = pair if in_column else None
        yield pair


def _is_unit(text: str) -> bool:
    """Tell whether a text directly behind a field is a unit, or goes on with its sentence."""
    return len(text) <= _LONGEST_UNIT or _GOES_ON.match(text) is not None


def _rows(fields: Sequence[FieldLine]) -> Iterator[list[FieldLine]]:
    """Yield fields side by side, from the left."""
    for row in side_by_side(fields):
        yield sorted((one for one in row if isinstance(one, FieldLine)), key=lambda one: one.left)


def _is_below(upper: Line, lower: Line) -> bool:
    label = lower if isinstance(upper, FieldLine) and not isinstance(lower, FieldLine) else upper
    reach = _ABOVE * min(label.height, lower.height, upper.height)
    return upper.left < lower.right and lower.left < upper.right and -NEAR <= lower.top - upper.bottom <= reach


def _gap(left: Rectangle, right: Rectangle) -> float:
    return right.left - left.right


def _bands(one: Rectangle, more: int = 0) -> range:
    first = int(max(one.top, 0.0) // _BAND) - more
    return range(first, min(int(one.bottom // _BAND), first + 1_000) + 1 + more)


def _order(texts: Sequence[Line], one: Rectangle) -> int:
    """Return the order of the label, or of the last line above."""
    above = [line.order for line in texts if line.top <= one.middle]
    return above[-1] if above else 0


def _edges(members: Sequence[Line]) -> tuple[float, float, float, float]:
    left, top, right, bottom = around(members)
    return left, right, top, bottom

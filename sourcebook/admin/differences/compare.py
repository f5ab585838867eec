"""Comparison of the sections of two documents: which belong together, which moved, and what differs in each."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import islice
from typing import Final

from rapidfuzz import fuzz, process

from sourcebook.admin.differences.sections import ComparedSection, Unit
from sourcebook.admin.differences.words import compared_words, numbers_of
from sourcebook.contract.differences import Change, ChangedNumber, Piece, SectionDifference, SectionKind

_LEAST_WORDS: Final = 5
"""Words of a text from which it is known again wherever it stands."""
_SAME_SECTION: Final = 60
"""Similarity of two sections with other headings, 0..100, from which one became the other."""
_SAME_UNIT: Final = 45
"""Similarity of two paragraphs or lines from which one became the other."""
_MOST_COMPARED: Final = 200
"""Sections, or paragraphs, of one document that are compared with those of the other one by their words, at most."""

_MOST_PAIRS: Final = 20_000
"""Pairs of paragraphs that are compared at once, at most; more of them become each other in their order."""

Pairs = dict[int, int]
"""Place of a section in the second document by its place in the first one."""


def compare(first: Sequence[ComparedSection], second: Sequence[ComparedSection]) -> list[SectionDifference]:
    """Return the sections that differ, in the order of the second document; removed ones where they stood."""
    pairs = paired(first, second)
    moved = _moved(first, second, pairs)
    found: list[tuple[tuple[int, int], SectionDifference]] = []
    for place, other in pairs.items():
        made = _difference(first[place], second[other], is_moved=place in moved)
        if made is not None:
            found.append(((other, 1), made))
    reached = {other: place for place, other in pairs.items()}
    for other, section in enumerate(second):
        if other not in reached:
            changes = [_alone("added", unit) for unit in section.units]
            found.append(((other, 1), SectionDifference("added", None, section.side, False, tuple(changes))))
    for place, section in enumerate(first):
        if place not in pairs:
            behind = max((pairs[each] for each in range(place) if each in pairs and each not in moved), default=-1)
            changes = [_alone("removed", unit) for unit in section.units]
            found.append(((behind, 2), SectionDifference("removed", section.side, None, False, tuple(changes))))
    return _with_moved_units([section for _, section in sorted(found, key=lambda pair: pair[0])])


def paired(first: Sequence[ComparedSection], second: Sequence[ComparedSection]) -> Pairs:
    """Return which sections belong together: by an equal text, by headings in their order, elsewhere, by near texts."""
    pairs: Pairs = {}

    def left() -> tuple[list[int], list[int]]:
        taken = set(pairs.values())
        return [each for each in range(len(first)) if each not in pairs], [
            each for each in range(len(second)) if each not in taken
        ]

    pairs |= _unique(first, second, lambda each: each.body if len(each.body.split()) >= _LEAST_WORDS else "")
    mine, theirs = left()
    keys = [[each[place].name for place in places] for each, places in ((first, mine), (second, theirs))]
    for block in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_matching_blocks():
        for step in range(block.size):
            pairs[mine[block.a + step]] = theirs[block.b + step]
    mine, theirs = left()
    for place in mine:
        named = [each for each in theirs if first[place].name == second[each].name]
        if named:
            best = max(named, key=lambda each: fuzz.ratio(first[place].body, second[each].body))
            pairs[place] = best
            theirs.remove(best)
    mine, theirs = left()
    for place in mine[:_MOST_COMPARED]:
        bodies = {each: second[each].body for each in theirs[:_MOST_COMPARED]}
        best_one = process.extractOne(first[place].body, bodies, scorer=fuzz.ratio, score_cutoff=_SAME_SECTION)
        if best_one is not None and first[place].body:
            pairs[place] = best_one[2]
            theirs.remove(best_one[2])
    return pairs


def _unique(
    first: Sequence[ComparedSection], second: Sequence[ComparedSection], key: Callable[[ComparedSection], str]
) -> Pairs:
    """Return the sections whose key is in each document once."""
    counts = [Counter(map(key, each)) for each in (first, second)]
    places = {key(section): place for place, section in enumerate(second)}
    return {
        place: places[name]
        for place, section in enumerate(first)
        if (name := key(section)) and counts[0][name] == counts[1][name] == 1
    }


def _moved(first: Sequence[ComparedSection], second: Sequence[ComparedSection], pairs: Pairs) -> set[int]:
    """Return the sections of the first document that stand elsewhere among those of both, or below another heading."""
    order = sorted(pairs)
    stay = {order[at] for at in _longest_rise([pairs[place] for place in order])}
    above, above_others = _parents(first), _parents(second)
    back = set(pairs.values())
    for place in order:
        parent, other = above[place], above_others[pairs[place]]
        if parent is not None and other is not None and parent in pairs and other in back and pairs[parent] != other:
            stay.discard(place)
    # What goes along with a section that moved as a whole is not named once more.
    return {
        place for place in order if place not in stay and not (
            (parent := above[place]) is not None and parent in pairs and parent not in stay
            and above_others[pairs[place]] == pairs[parent]
        )
    }  # fmt: skip


def _parents(listed: Sequence[ComparedSection]) -> list[int | None]:
    last: dict[tuple[str, ...], int] = {}
    found: list[int | None] = []
    for place, section in enumerate(listed):
        path = section.side.heading_path
        found.append(last.get(path[:-1]) if path else None)
        last[path] = place
    return found


def _longest_rise(values: Sequence[int]) -> set[int]:
    """Return the places of a longest rising subsequence."""
    tops: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for place, value in enumerate(values):
        at = bisect_left(tops, value)
        before.append(ends[at - 1] if at else -1)
        if at == len(tops):
            tops.append(value)
            ends.append(place)
        else:
            tops[at], ends[at] = value, place
    kept: set[int] = set()
    place = ends[-1] if ends else -1
    while place >= 0:
        kept.add(place)
        place = before[place]
    return kept


def _difference(old: ComparedSection, new: ComparedSection, *, is_moved: bool) -> SectionDifference | None:
    changes = tuple(_changes(old.units, new.units))
    kind: SectionKind | None = "moved" if is_moved else None
    if old.name != new.name:
        kind = "renamed"
    if changes:
        kind = "changed"
    return None if kind is None else SectionDifference(kind, old.side, new.side, is_moved, changes)


def _changes(old: Sequence[Unit], new: Sequence[Unit]) -> Iterator[Change]:
    keys = [[unit.key for unit in units] for units in (old, new)]
    matcher = SequenceMatcher(None, keys[0], keys[1], autojunk=max(len(old), len(new)) > _MOST_COMPARED * 10)
    for kind, start, end, begin, stop in matcher.get_opcodes():
        if kind != "equal":
            yield from _replaced(old[start:end], new[begin:stop])


def _replaced(old: Sequence[Unit], new: Sequence[Unit]) -> Iterator[Change]:
    """Yield the changes between units of which none is the same: those that became others, in their order."""
    done = 0
    became = _aligned([unit.key for unit in old], [unit.key for unit in new])
    for place, unit in enumerate(old):
        if place not in became:
            yield _alone("removed", unit)
            continue
        for each in new[done : became[place]]:
            yield _alone("added", each)
        other = new[became[place]]
        done = became[place] + 1
        pieces, numbers = compared_words(unit.key, other.key)
        yield Change("changed", unit.side, other.side, pieces, numbers)
    for each in new[done:]:
        yield _alone("added", each)


def _aligned(old: Sequence[str], new: Sequence[str]) -> Pairs:
    """Return which texts became which, in their order, so that the sum of the similarities is largest."""
    if len(old) * len(new) > _MOST_PAIRS:
        return {place: place for place in range(min(len(old), len(new)))}
    likeness = [[fuzz.ratio(one, other, score_cutoff=_SAME_UNIT) for other in new] for one in old]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for place in range(len(old) - 1, -1, -1):
        for other in range(len(new) - 1, -1, -1):
            skipped = max(best[place + 1][other], best[place][other + 1])
            best[place][other] = max(skipped, best[place + 1][other + 1] + likeness[place][other])
    pairs: Pairs = {}
    place = other = 0
    while place < len(old) and other < len(new):
        if best[place][other] == best[place + 1][other]:
            place += 1
        elif best[place][other] == best[place][other + 1]:
            other += 1
        else:
            pairs[place] = other
            place, other = place + 1, other + 1
    return pairs


def _alone(kind: str, unit: Unit) -> Change:
    listed = tuple(numbers_of(unit.text))
    if kind == "added":
        return Change(
            "added", None, unit.side, (Piece("added", unit.key),), tuple(ChangedNumber("", n) for n in listed)
        )
    return Change(
        "removed", unit.side, None, (Piece("removed", unit.key),), tuple(ChangedNumber(n, "") for n in listed)
    )


def _with_moved_units(sections: Sequence[SectionDifference]) -> list[SectionDifference]:
    """Return sections in which a paragraph that is gone here and stands there unchanged is one that moved."""
    gone = _texts(sections, "removed")
    come = _texts(sections, "added")
    moved = {text: (gone[text], come[text]) for text in gone.keys() & come.keys() if len(text.split()) >= _LEAST_WORDS}
    made: list[SectionDifference] = []
    for section in sections:
        changes = []
        for change in section.changes:
            known = moved.get(change.pieces[0].text) if change.kind in {"added", "removed"} else None
            if known is None:
                changes.append(change)
            elif change is known[1]:
                text = change.pieces[0].text
                changes.append(Change("moved", known[0].before, change.after, (Piece("same", text),)))
            elif change is not known[0]:
                changes.append(change)
        if changes or section.kind != "changed" or not section.changes:
            made.append(replace(section, changes=tuple(changes)))
    return made


def _texts(sections: Sequence[SectionDifference], kind: str) -> Mapping[str, Change]:
    found = [change for section in sections for change in section.changes if change.kind == kind]
    counts = Counter(change.pieces[0].text for change in found)
    return {change.pieces[0].text: change for change in islice(found, 100_000) if counts[change.pieces[0].text] == 1}

"""Labels of plots and diagrams: single words all over a figure, which together make one paragraph."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sourcebook.parsing.pdf.layout.elements import Element, Place, PlacedTable

_LONGEST = 24
"""Most characters of a label."""
_FEWEST = 8
"""Fewest labels that follow one another."""
_FEWEST_EDGES = 4
"""Fewest left edges of the labels; lists and poems have one or two."""


def with_joined_labels(found: Sequence[Element | PlacedTable]) -> list[Element | PlacedTable]:
    """Return the elements, with the labels of each figure as one paragraph."""
    result: list[Element | PlacedTable] = []
    for group in _groups(found):
        labels = [one for one in group if isinstance(one, Element)]
        edges = {round(one.first.left / max(one.first.size, 1.0)) for one in labels}
        if len(labels) >= _FEWEST and len(edges) >= _FEWEST_EDGES:
            result.append(_joined(labels))
        else:
            result += group
    return result


def _groups(found: Sequence[Element | PlacedTable]) -> Iterator[list[Element | PlacedTable]]:
    """Yield consecutive labels of one page together, and every other element alone."""
    group: list[Element | PlacedTable] = []
    page = 0
    for one in found:
        if isinstance(one, Element) and _is_label(one):
            if group and one.places[0].page != page:
                yield group
                group = []
            group.append(one)
            page = one.places[0].page
            continue
        if group:
            yield group
            group = []
        yield [one]
    if group:
        yield group


def _is_label(one: Element) -> bool:
    # Small text in the lower half of a page may have been taken for footnotes.
    short = one.lines == 1 and len(one.text) <= _LONGEST and one.text[-1:] not in ".:;!?"
    return short and one.kind in ("paragraph", "footnote")


def _joined(labels: Sequence[Element]) -> Element:
    places = [one.places[0] for one in labels]
    around = Place(
        places[0].page,
        min(place.left for place in places),
        min(place.top for place in places),
        max(place.right for place in places),
        max(place.bottom for place in places),
    )
    text = " ".join(one.text for one in labels)
    return replace(labels[0], kind="paragraph", text=text, places=(around,), last=labels[-1].last, lines=len(labels))

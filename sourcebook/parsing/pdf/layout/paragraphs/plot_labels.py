"""Labels of plots and diagrams: single words all over a figure, which together make one paragraph."""

from collections.abc import Sequence
from dataclasses import replace

from sourcebook.parsing.pdf.layout.elements import Element, Part, Place
from sourcebook.parsing.pdf.layout.grouping import grouped
from sourcebook.parsing.pdf.layout.measures import around

_LONGEST = 24
"""Most characters of a label [library]."""
_FEWEST = 8
"""Fewest labels that follow one another [library]."""
_FEWEST_EDGES = 4
"""Fewest left edges of the labels; lists and poems have one or two [library]."""


def with_joined_labels(found: Sequence[Part]) -> list[Part]:
    """Return the elements, with the labels of each figure as one paragraph."""
    result: list[Part] = []
    for group in grouped(found, _are_one_figure):
        labels = [one for one in group if isinstance(one, Element)]
        edges = {round(one.first.left / max(one.first.size, 1.0)) for one in labels}
        if len(labels) >= _FEWEST and len(edges) >= _FEWEST_EDGES:
            result.append(_joined(labels))
        else:
            result += group
    return result


def _are_one_figure(labels: Sequence[Part], one: Part) -> bool:
    return _is_label(one) and _is_label(labels[0]) and one.page == labels[0].page


def _is_label(one: Part) -> bool:
    # Small text in the lower half of a page may have been taken for footnotes.
    if not isinstance(one, Element) or one.kind not in ("paragraph", "footnote"):
        return False
    return one.lines == 1 and len(one.text) <= _LONGEST and one.text[-1:] not in ".:;!?"


def _joined(labels: Sequence[Element]) -> Element:
    whole = Place(labels[0].page, *around([one.places[0] for one in labels]))
    text = " ".join(one.text for one in labels)
    return replace(labels[0], kind="paragraph", text=text, places=(whole,), last=labels[-1].last, lines=len(labels))

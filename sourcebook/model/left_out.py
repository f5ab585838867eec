"""What a document holds and its text does not: the kinds that are counted, and the words for each."""

from collections.abc import Mapping
from typing import Literal

from sourcebook.model.document import JsonValue

LeftOutKind = Literal[
    "words",
    "pictures",
    "unseen_words",
    "words_beyond_page",
    "other_part_words",
    "hidden_words",
    "formulas",
    "attachments",
    "objects",
    "frames",
    "records",
    "plot_points",
]

NAMES: Mapping[LeftOutKind, tuple[str, str]] = {
    "words": ("word of headers, footers and menus", "words of headers, footers and menus"),
    "pictures": ("picture without read text", "pictures without read text"),
    "unseen_words": ("word nobody sees", "words nobody sees"),
    "words_beyond_page": ("word beyond the page", "words beyond the page"),
    "other_part_words": ("word of the part beside", "words of the part beside"),
    "hidden_words": ("hidden word", "hidden words"),
    "formulas": ("formula without a value", "formulas without a value"),
    "attachments": ("attachment", "attachments"),
    "objects": ("embedded object", "embedded objects"),
    "frames": ("frame", "frames"),
    "records": ("record", "records"),
    "plot_points": ("point of a plot", "points of plots"),
}
"""Each kind's name for one and for several."""


def with_left_out(metadata: Mapping[str, JsonValue], counts: Mapping[LeftOutKind, int]) -> dict[str, JsonValue]:
    """Return a document's metadata with counts of what its text leaves out, added to those in `left_out`."""
    found = {kind: number for kind, number in counts.items() if number}
    if not found:
        return dict(metadata)
    before = left_out_counts(metadata)
    sums: dict[str, JsonValue] = {kind: number + before.get(kind, 0) for kind, number in found.items()}
    facts = metadata.get("left_out")
    return {**metadata, "left_out": {**(facts if isinstance(facts, dict) else {}), **sums}}


def left_out_counts(metadata: Mapping[str, JsonValue]) -> dict[LeftOutKind, int]:
    """Return what a document's text leaves out, by kind."""
    facts = metadata.get("left_out")
    found = ((kind, facts.get(kind)) for kind in NAMES) if isinstance(facts, dict) else ()
    return {kind: number for kind, number in found if isinstance(number, int) and number > 0}


def left_out_words(counts: Mapping[str, int]) -> str:
    """Return counts by kind in words, such as `3 pictures without read text, 1 frame`; "" where there are none."""
    found = ((NAMES[kind], counts.get(kind, 0)) for kind in NAMES)
    return ", ".join(f"{number:,} {names[number != 1]}" for names, number in found if number)

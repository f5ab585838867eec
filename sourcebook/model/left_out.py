"""Parts of a document that its text leaves out: the kinds that are counted, and the words for each."""

from collections.abc import Mapping
from typing import Literal, cast

from sourcebook.model.document import JsonValue

LeftOutKind = Literal[
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
    "notices",
    "prompts",
    "fields",
]

NAMES: Mapping[LeftOutKind, tuple[str, str]] = {
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
    "notices": ("notice of a chat", "notices of a chat"),
    "prompts": ("prompt of an empty field", "prompts of empty fields"),
    "fields": ("field of a record", "fields of records"),
}
"""Each kind's name for one and for several."""


def with_left_out(metadata: Mapping[str, JsonValue], counts: Mapping[LeftOutKind, int]) -> dict[str, JsonValue]:
    """Return a document's metadata with counts of what its text leaves out, added to those in `left_out`."""
    found = {kind: number for kind, number in counts.items() if number}
    if not found:
        return dict(metadata)
    before = cast(dict[str, JsonValue], metadata.get("left_out", {}))
    sums: dict[str, JsonValue] = {kind: number + cast(int, before.get(kind, 0)) for kind, number in found.items()}
    return {**metadata, "left_out": {**before, **sums}}


def left_out_words(left_out: Mapping[str, JsonValue]) -> list[str]:
    """Return what is left out in words, such as `["3 pictures without read text"]`."""
    counts = ((NAMES[kind], left_out.get(kind, 0)) for kind in NAMES)
    return [f"{number:,} {names[number != 1]}" for names, number in counts if isinstance(number, int) and number]

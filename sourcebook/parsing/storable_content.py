"""The border of all readers: what leaves them can be stored, and says where something was replaced."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Protocol, TypeVar

from sourcebook.model.document import Block, JsonValue
from sourcebook.model.storable import count_unstorable, storable_mapping, storable_text

LONGEST_TITLE: Final = 2_000
"""Characters of a title or a heading; what is longer is cut, and stays whole in the text."""
REPLACED: Final = "replaced_characters"
"""Metadata of a document: the number of its characters that no database can store, which stand as U+FFFD."""


class _Content(Protocol):
    """Result of a reader: a parsed document, or a cleaned page."""

    @property
    def markdown(self) -> str: ...
    @property
    def blocks(self) -> tuple[Block, ...]: ...
    @property
    def title(self) -> str | None: ...
    @property
    def language(self) -> str | None: ...
    @property
    def metadata(self) -> Mapping[str, JsonValue]: ...


Content = TypeVar("Content", bound=_Content)


def storable_content(content: Content) -> Content:
    """Return what a reader found as the database can hold it; places in the text stay as they are.

    Args:
        content: a dataclass with these fields.
    """
    titles = [text for block in content.blocks for text in (block.title, block.anchor) if text]
    replaced = count_unstorable([content.markdown, content.title or "", "\n".join(titles)])
    changes: dict[str, object] = {}
    if replaced or any(len(title) > LONGEST_TITLE for title in titles):
        changes["blocks"] = tuple(_block(block) for block in content.blocks)
    if replaced:
        changes["markdown"] = storable_text(content.markdown)
    if content.title is not None and (title := _title(content.title)) != content.title:
        changes["title"] = title
    if content.metadata or replaced:
        changes["metadata"] = storable_mapping(content.metadata) | ({REPLACED: replaced} if replaced else {})
    if content.language is not None:
        changes["language"] = storable_text(content.language)
    return replace(content, **changes) if changes else content  # type: ignore[type-var] # they are dataclasses


def _block(block: Block) -> Block:
    anchor = block.anchor and storable_text(block.anchor)
    return replace(block, title=_title(block.title), anchor=anchor)


def _title(title: str) -> str:
    title = storable_text(title)
    return title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1] + "…"

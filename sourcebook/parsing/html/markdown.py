"""Markdown of the readable part of a page, with the anchors of its headings."""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sourcebook.model.document import Block
from sourcebook.parsing.dates import split_date_lines
from sourcebook.parsing.html.anchors import anchor_of
from sourcebook.parsing.html.conversion import convert_tree
from sourcebook.parsing.html.tables import tidy_tables
from sourcebook.parsing.html.tidying import (
    is_permalink,
    tidy_formulas,
    tidy_images,
    tidy_links,
    tidy_terms,
)
from sourcebook.parsing.html.tree import (
    CODE_NEWLINE,
    HEADING_END,
    HEADING_START,
    HEADINGS,
    Element,
    drop,
    plain_text,
    replace_content,
    subelement,
    unwrap,
)
from sourcebook.parsing.text.decode import clean
from sourcebook.parsing.text.markdown import markdown_blocks

_INLINE = ("a", "b", "code", "em", "figcaption", "i", "s", "strong", "summary", "u")
_NOTE = re.compile(r"(?:^|\s)(?:note|tip|warning|caution|important|danger|hint|admonition)(?:\s|$)", re.IGNORECASE)
_MARKER = re.compile(f"{HEADING_START}([0-9]+){HEADING_END}")
_STRAY_MARKER = re.compile(f"[{HEADING_START}{HEADING_END}{CODE_NEWLINE}]")


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """Markdown of a page, with the positions and anchors of its headings in reading order."""

    markdown: str
    dates: Mapping[str, str]
    """`published` and `modified` of the lines that held only a date and are left out of the Markdown."""
    places: Sequence[int]
    anchors: Sequence[str]

    def blocks(self) -> tuple[Block, ...]:
        """Return the blocks of the Markdown; each heading has its anchor on the page, or ""."""
        return tuple(
            replace(block, anchor=self._anchor(block)) if block.kind == "heading" else block
            for block in markdown_blocks(self.markdown)
        )

    def _anchor(self, heading: Block) -> str:
        nearest = bisect_left(self.places, heading.start)
        return self.anchors[nearest] if nearest < len(self.places) and self.places[nearest] <= heading.end else ""


def write_markdown(root: Element, *, base_url: str, split_dates: bool) -> WrittenPage:
    """Convert the tree below `root`, which is changed on the way.

    Args:
        root: the readable part of a page.
        base_url: base of relative links; where empty, they stay relative.
        split_dates: whether lines that hold only a date leave the Markdown and become metadata.
    """
    tidy_images(root)
    tidy_tables(root)
    anchors = _mark_headings(root)
    tidy_links(root)
    tidy_terms(root)
    tidy_formulas(root)
    markdown = clean(convert_tree(root, base_url=base_url or None))
    markdown, dates = split_date_lines(markdown) if split_dates else (markdown, {})
    return _without_markers(markdown, dates, anchors)


def _mark_headings(root: Element) -> list[str]:
    """Put a marker with its number before each heading's text, and return the headings' anchors."""
    anchors: list[str] = []
    for heading in list(root.iter(*HEADINGS)):
        parent = heading.getparent()
        if parent is None:
            continue
        anchor = anchor_of(heading)
        for link in list(heading.iter("a")):
            if is_permalink(link):
                drop(link)
            elif (link.get("href") or "").startswith("#"):
                unwrap(link)
        text = plain_text(heading)
        if not text:
            drop(heading)
        elif heading.tag != "h1" and parent[0] is heading and _NOTE.search(parent.get("class") or ""):
            # The title of a note: the text after the note must not become part of it.
            replace_content(heading, "")
            heading.tag = "p"
            subelement(heading, "strong", text)
        else:
            for around in list(heading.iterancestors(*_INLINE)):
                unwrap(around)
            heading.text = f"{HEADING_START}{len(anchors)}{HEADING_END}{(heading.text or '').lstrip()}"
            anchors.append(anchor)
    return anchors


def _without_markers(markdown: str, dates: Mapping[str, str], anchors: Sequence[str]) -> WrittenPage:
    pieces: list[str] = []
    places: list[int] = []
    numbers: list[int] = []
    end = length = 0
    for marker in _MARKER.finditer(markdown):
        pieces.append(markdown[end : marker.start()])
        length += marker.start() - end
        end = marker.end()
        places.append(length)
        numbers.append(int(marker[1]))
    pieces.append(markdown[end:])
    text = _STRAY_MARKER.sub("", "".join(pieces)).rstrip()
    return WrittenPage(f"{text}\n" if text else "", dates, places, [anchors[number] for number in numbers])

"""Markdown of the readable part of a page, with the anchors of its headings."""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sourcebook.model.document import Block
from sourcebook.parsing.dates import split_date_lines
from sourcebook.parsing.html.anchors import anchor_of
from sourcebook.parsing.html.conversion import convert_tree
from sourcebook.parsing.html.left_out import number_of_words
from sourcebook.parsing.html.links import mark_own_links
from sourcebook.parsing.html.list_marks import write_list_marks
from sourcebook.parsing.html.tables import tidy_tables
from sourcebook.parsing.html.tidying import (
    is_permalink,
    tidy_formulas,
    tidy_images,
    tidy_links,
    tidy_readings,
    tidy_terms,
    unwrap_section_lists,
)
from sourcebook.parsing.html.tree import (
    CODE_NEWLINE,
    HEADING_END,
    HEADING_START,
    HEADINGS,
    OWN_END,
    OWN_START,
    Element,
    drop,
    plain_text,
    replace_content,
    subelement,
    unwrap,
)
from sourcebook.parsing.text.decode import clean, without_characters
from sourcebook.parsing.text.markdown import markdown_blocks
from sourcebook.parsing.text.titles import cut_title

_INLINE = ("a", "b", "code", "em", "figcaption", "i", "s", "strong", "summary", "u")
_LINES = ("br", "div", "li", "p", "td", "th")
"""Elements that separate words of a heading without a space."""
_NOTE = re.compile(r"(?:^|\s)(?:note|tip|warning|caution|important|danger|hint|admonition)(?:\s|$)", re.IGNORECASE)
_SIGN = re.compile(r"[*_`~<&\[\\]")
_MARKER = re.compile(f"{HEADING_START}([0-9]+){HEADING_END}|{OWN_START}([^{OWN_START}{OWN_END}]*){OWN_END}")
_MARKERS = f"{HEADING_START}{HEADING_END}{CODE_NEWLINE}{OWN_START}{OWN_END}"


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """Markdown of a page, with the positions, anchors and titles of its headings in reading order."""

    markdown: str
    dates: Mapping[str, str]
    """`published` and `modified` of the lines that held only a date and are left out of the Markdown."""
    places: Sequence[int]
    anchors: Sequence[str]
    titles: Sequence[str]
    """Texts of the headings that Markdown would read otherwise, such as `__add__`; "" for the others."""
    own_links: Sequence[tuple[int, int]]
    """Spans of the page's own URL in links to the page itself."""
    words: int
    """Words of the part that was converted, where they were to be counted."""

    def blocks(self) -> tuple[Block, ...]:
        """Return the blocks of the Markdown; each heading has its anchor on the page, or ""."""
        return tuple(
            self._heading(block) if block.kind == "heading" else block for block in markdown_blocks(self.markdown)
        )

    def _heading(self, block: Block) -> Block:
        nearest = bisect_left(self.places, block.start)
        if nearest == len(self.places) or self.places[nearest] > block.end:
            return block
        return replace(block, anchor=self.anchors[nearest], title=self.titles[nearest] or block.title)


def write_markdown(
    root: Element, *, base_url: str, split_dates: bool, page_url: str = "", counts: bool = False
) -> WrittenPage:
    """Convert the tree below `root`, which is changed on the way.

    Args:
        root: the readable part of a page.
        base_url: base of relative links; where empty, they stay relative.
        split_dates: whether lines that hold only a date leave the Markdown and become metadata.
        page_url: URL of the page, where known.
        counts: whether its words are counted.
    """
    words = number_of_words(root) if counts else 0
    tidy_images(root)
    write_list_marks(root)
    tidy_tables(root)
    unwrap_section_lists(root)
    headings = _mark_headings(root)
    tidy_links(root)
    mark_own_links(root, base_url, page_url)
    tidy_terms(root)
    tidy_formulas(root)
    tidy_readings(root)
    markdown = clean(convert_tree(root, base_url=base_url or None, page_url=page_url))
    markdown, dates = split_date_lines(markdown) if split_dates else (markdown, {})
    return _without_markers(markdown, dates, headings, words)


def _mark_headings(root: Element) -> list[tuple[str, str]]:
    """Put a marker with its number before each heading's text, and return the headings' anchors and titles.

    An id that an earlier heading has, too, is no anchor: a browser scrolls to the first one.
    """
    found: list[tuple[str, str]] = []
    used: set[str] = set()
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
            heading.text = f"{HEADING_START}{len(found)}{HEADING_END}{(heading.text or '').lstrip()}"
            anchor = "" if anchor in used else anchor
            used.add(anchor)
            has_signs = _SIGN.search(text) is not None and next(heading.iter(*_LINES), None) is None
            found.append((anchor, cut_title(clean(text)) if has_signs else ""))
    return found


def _without_markers(
    markdown: str, dates: Mapping[str, str], headings: Sequence[tuple[str, str]], words: int
) -> WrittenPage:
    pieces: list[str] = []
    places: list[int] = []
    numbers: list[int] = []
    own_links: list[tuple[int, int]] = []
    end = length = 0
    for marker in _MARKER.finditer(markdown):
        pieces.append(markdown[end : marker.start()])
        length += marker.start() - end
        end = marker.end()
        if (own := marker[2]) is not None:
            own_links.append((length, length + len(own)))
            pieces.append(own)
            length += len(own)
            continue
        places.append(length)
        numbers.append(int(marker[1]))
    pieces.append(markdown[end:])
    text = without_characters("".join(pieces), _MARKERS).rstrip()
    return WrittenPage(
        markdown=f"{text}\n" if text else "",
        dates=dates,
        places=places,
        anchors=[headings[number][0] for number in numbers],
        titles=[headings[number][1] for number in numbers],
        own_links=own_links,
        words=words,
    )

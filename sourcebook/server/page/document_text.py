"""The text of a document for the page: in parts, cut where its passages begin."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Final

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

from sourcebook.contract.documents import Passage
from sourcebook.contract.search_results import printable
from sourcebook.server.page.rendering import web_address
from sourcebook.server.page.translation import gettext

PART_CHARACTERS: Final = 60_000
"""Characters from which on a part ends: a browser shows it at once, and Markdown of it is rendered in half a second."""
_TAGS: Final = frozenset(
    "a abbr b blockquote br caption code dd del dl dt em h1 h2 h3 h4 h5 h6 hr i kbd li ol p pre s strong sub sup table "  # noqa: SIM905 - a list would have a line for each
    "tbody td tfoot th thead tr u ul".split()
)
_ATTRIBUTES: Final = {"a": {"href"}, "ol": {"start"}, "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan"}}

_NOWHERE: Final = "citation.invalid"
"""Host that is none (RFC 6761)."""
_CITATION: Final = re.compile(r"\[(\d{1,4})\]")
_PLACEHOLDER: Final = re.compile(rf'<a href="https://{_NOWHERE}/(\d{{1,4}})"[^>]*>\[\d+\]</a>')
_FRONT_MATTER: Final = re.compile(r"---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_CITED: Final = '<a class="cite" href="{0}" title="{1}">[{2}]</a>'


@dataclass(frozen=True, slots=True)
class Part:
    """A range of a text, with the passages that begin in it."""

    text: str
    passages: tuple[Passage, ...]
    begin: int
    """Place of its first character in the whole text."""


@dataclass(frozen=True, slots=True)
class Section:
    """Text up to the beginning of the next passage."""

    passages: tuple[Passage, ...]
    """Passages that begin in it; the first one at its beginning."""
    content: Markup


def parts_of(text: str, passages: Sequence[Passage]) -> list[Part]:
    """Return a text in parts of about `PART_CHARACTERS`, cut where passages begin, or else at ends of lines."""
    starts = sorted({passage.start_char for passage in passages})
    cuts = [0]
    while len(text) - cuts[-1] > PART_CHARACTERS * 1.5:
        earliest = cuts[-1] + PART_CHARACTERS
        at = bisect_right(starts, earliest)
        cut = starts[at] if at < len(starts) and starts[at] < earliest + PART_CHARACTERS else 0
        cuts.append(cut or text.find("\n", earliest) + 1 or len(text))
    ends = [*cuts, len(text)] if cuts[-1] < len(text) or len(cuts) == 1 else cuts
    return [
        Part(text[begin:end], tuple(_beginning(passages, begin, end, is_last=end == len(text))), begin)
        for begin, end in pairwise(ends)
    ]


def plain_sections(part: Part) -> list[Section]:
    """Return the text of a part as it stands, escaped."""
    found: list[Section] = []
    starts = {passage.start_char - part.begin for passage in part.passages}
    cuts = sorted({0, len(part.text), *(start for start in starts if 0 < start < len(part.text))})
    for begin, end in pairwise(cuts):
        here = tuple(_beginning(part.passages, part.begin + begin, part.begin + end, is_last=end == cuts[-1]))
        found.append(Section(here, escape(printable(part.text[begin:end]))))
    return found


def rendered_sections(part: Part, title: str) -> list[Section]:
    """Return the Markdown of a part as HTML without anything that acts: no scripts, styles, images, forms, ids.

    Args:
        part: the part.
        title: the title of the document; a first heading that repeats it is left out.
    """
    markdown = _markdown()
    environment: dict[str, Any] = {}
    tokens = markdown.parse(_without_front_matter(part), environment)
    repeats_title = len(tokens) > 1 and tokens[0].type == "heading_open" and tokens[1].content.strip() == title.strip()
    _fit_headings(tokens[3 if repeats_title else 0 :])
    line_starts = [0, *(at + 1 for at, letter in enumerate(part.text) if letter == "\n")]
    waiting = sorted(part.passages, key=lambda passage: passage.start_char)
    sections: list[tuple[list[Passage], list[Token]]] = []
    for block in _blocks(tokens):
        lines = block[0].map or [0, 0]
        here = []
        while waiting and bisect_right(line_starts, waiting[0].start_char - part.begin) <= lines[1]:
            here.append(waiting.pop(0))
        if not sections and repeats_title:
            block = []  # the title stands above the text
        if here or not sections:
            sections.append((here, []))
        sections[-1][1].extend(block)
    if waiting:
        sections.append((waiting, []))
    return [
        Section(tuple(here), _clean(markdown.renderer.render(held, markdown.options, environment)))
        for here, held in sections
    ]


def _without_front_matter(part: Part) -> str:
    """Return the text of a part with blanks in place of its front matter, which the page shows as metadata.

    What stands in a passage is no front matter.
    """
    found = None if part.begin else _FRONT_MATTER.match(part.text)
    if found is None or not part.passages or any(passage.start_char < found.end() for passage in part.passages):
        return part.text
    return re.sub(r"[^\n]", " ", found[0]) + part.text[found.end() :]


def rendered(text: str, cited: Mapping[int, tuple[str, str]]) -> Markup:
    """Return the Markdown of an answer as HTML without anything that acts, below a heading of the second level.

    Args:
        text: the text.
        cited: address and title of the source of each number in square brackets that is a citation, outside of code.
    """
    markdown = _markdown()
    environment: dict[str, Any] = {}
    tokens = markdown.parse(text, environment)
    _fit_headings(tokens, level=2)
    for token in (child for block in tokens for child in block.children or [] if child.type == "text"):
        token.type, token.content = "html_inline", _CITATION.sub(_placeholder, str(escape(token.content)))

    def link(found: re.Match[str]) -> str:
        target = cited.get(int(found[1]))
        return f"[{found[1]}]" if target is None else _CITED.format(*map(escape, target), found[1])

    return Markup(_PLACEHOLDER.sub(link, _clean(markdown.renderer.render(tokens, markdown.options, environment))))  # noqa: S704 - cleaned, and escaped


def _placeholder(found: re.Match[str]) -> str:
    """Return a link that survives the cleaning, which no document can give a class."""
    return f'<a href="https://{_NOWHERE}/{found[1]}">{found[0]}</a>'


def _beginning(passages: Sequence[Passage], begin: int, end: int, *, is_last: bool) -> Iterator[Passage]:
    """Yield the passages that begin in a range; those beyond the end of the text are in its last range."""
    for passage in passages:
        if begin <= passage.start_char < end or (is_last and passage.start_char >= end):
            yield passage


@cache
def _markdown() -> MarkdownIt:
    made = MarkdownIt("commonmark").enable(["table", "strikethrough"])

    def image(_: object, tokens: Sequence[Token], index: int, *__: object) -> str:
        """Return the description of an image: to load it would tell another server who reads this."""
        return f"<i>[{escape(tokens[index].content or gettext('image'))}]</i>"

    made.add_render_rule("image", image)
    return made


def _blocks(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield the outermost blocks of a text."""
    block: list[Token] = []
    depth = 0
    for token in tokens:
        block.append(token)
        depth += token.nesting
        if depth == 0:
            yield block
            block = []


def _fit_headings(tokens: Sequence[Token], level: int = 1) -> None:
    """Put headings below one of a level, by default that of the page, and leave no level out."""
    above = level
    for token in tokens:
        if token.type == "heading_open":
            level = min(int(token.tag[1]) + above, level + 1, 6)
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{level}"


def _clean(html: str) -> Markup:
    """Return HTML with the allowed tags alone, whose tables and code can be scrolled by keyboard."""
    found = nh3.clean(
        html,
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        attribute_filter=lambda tag, name, value: _address(value) if (tag, name) == ("a", "href") else value,
        link_rel="noopener noreferrer nofollow",
        url_schemes={"http", "https"},
        url_relative="deny",
    )
    # Nothing but a tag reads so: text is escaped, and no address has these characters.
    scrolled = f'<div class="wide" tabindex="0" role="group" aria-label="{gettext("Table")}"><table>'
    found = found.replace("<table>", scrolled)
    found = found.replace("</table>", "</table></div>").replace("<pre>", '<pre tabindex="0">')
    return Markup(printable(found))  # noqa: S704 - cleaned


def _address(value: str) -> str | None:
    return None if set(value) & set("<>\"'`") else web_address(value)

"""Conversion of a tidied tree to Markdown with html-to-markdown."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote

from sourcebook.parsing.fences import unfenced_spans
from sourcebook.parsing.html.links import OWN_PAGE
from sourcebook.parsing.html.parts import html_in_parts
from sourcebook.parsing.html.tree import CODE_NEWLINE, OWN_END, OWN_START, Element, plain_text
from sourcebook.parsing.text.decode import without_characters
from sourcebook.processes.machine_memory import return_freed_memory

if TYPE_CHECKING:
    from html_to_markdown import ConversionOptions

_LARGE = 250_000
"""Characters of HTML from which a tree is freed before the conversion."""
_SURELY_TEXT = 10_000
"""Characters of text by which a page is no empty shell for scripts, which nobody looks for in its tree then."""
_INVISIBLE = "\u00ad\u200b\u2060\ufeff"
_TARGET = re.compile(r"link-target-(\d+)-of-page")
_UNSAFE = re.compile(r"[\s\x00-\x1f\x7f\"$<>\[\]\\^`{|}]")
"""Characters of a link target that Markdown does not take as they are."""
_UNSAFE_OR_BRACKET = re.compile(rf"{_UNSAFE.pattern}|[()]")
_TAG = re.compile(r"<(?=[a-z/!?])(?!https?:|mailto:)", re.IGNORECASE)
_LINE_START = re.compile(r"[ >]*(?:(?:[-*+]|\d+\.)[ ]+)*")
"""Signs of quotations and lists before the text of a line."""


def convert_tree(root: Element, *, base_url: str | None = None, page_url: str = "") -> str:
    """Return the Markdown of a tree, with plain spaces and without invisible characters.

    Args:
        root: the readable part of a page, which may be emptied, with `CODE_NEWLINE` for line ends within code.
        base_url: base of relative links, which stay relative where None.
        page_url: URL of the page, which links marked with `OWN_PAGE` get, between `OWN_START` and `OWN_END`.
    """
    targets = _take_lettered_targets(root) if base_url is None else []
    parts = html_in_parts(root)
    if sum(map(len, parts)) > _LARGE and len(plain_text(root)) > _SURELY_TEXT:
        root.clear()  # the conversion takes 20 times the size of a part; the tree takes 10 times that of the page
        return_freed_memory()
    options = _options() if base_url is None else replace(_options(), base_url=base_url)
    texts = []
    while parts:  # each part is freed with its conversion
        texts.append(_converted(parts.pop(0), options))
    markdown = "\n\n".join(filter(None, texts))
    if len(markdown) > _LARGE:
        return_freed_memory()  # before the blocks of the Markdown are found
    if targets:
        markdown = _TARGET.sub(lambda found: _numbered(targets, found), markdown)
    if page_url and OWN_PAGE in markdown:
        markdown = markdown.replace(f"]({OWN_PAGE}", f"]({OWN_START}{_written(page_url)}{OWN_END}")
    return without_characters(_with_escaped_tags(markdown), _INVISIBLE)


def _converted(html: str, options: ConversionOptions) -> str:
    """Return the Markdown of HTML without empty lines around it."""
    from html_to_markdown import convert

    # A line end in running text is white space; as a line end, it would start a Markdown block.
    html = html.replace("\n", " ").replace(CODE_NEWLINE, "\n")
    return (convert(html, options).content or "").replace("\u00a0", " ").strip("\n")


def _take_lettered_targets(root: Element) -> list[str]:
    """Replace link targets with letters beyond ASCII, which conversion would encode, by their numbers."""
    targets: list[str] = []
    for link in root.iter("a"):
        target = link.get("href") or ""
        if not target.isascii():
            link.set("href", f"link-target-{len(targets)}-of-page")
            balanced = target.count("(") == target.count(")")
            unsafe = _UNSAFE if balanced else _UNSAFE_OR_BRACKET
            targets.append(unsafe.sub(lambda found: quote(found[0], safe=""), target))
    return targets


@lru_cache(maxsize=16)
def _written(url: str) -> str:
    """Return a URL as conversion writes it before the fragment of a relative link."""
    from html_to_markdown import convert

    markdown = convert('<p><a href="#end">page</a></p>', replace(_options(), base_url=url)).content or ""
    # A vertical bar would end the cell of a table.
    return markdown.strip().removeprefix("[page](").removesuffix("#end)").replace("|", "%7C")


def _numbered(targets: list[str], found: re.Match[str]) -> str:
    return targets[int(found[1])] if int(found[1]) < len(targets) else found[0]


def _with_escaped_tags(markdown: str) -> str:
    """Escape text such as `<script>` at the start of a line, which would turn the following lines into raw HTML."""
    pieces: list[str] = []
    end = 0
    for start, after in unfenced_spans(markdown):
        place = start
        while (tag := _TAG.search(markdown, place, after)) is not None:
            line = max(markdown.rfind("\n", start, tag.start()) + 1, start)
            if _LINE_START.fullmatch(markdown, line, tag.start()):
                pieces += (markdown[end : tag.start()], "\\")
                end = tag.start()
            line_end = markdown.find("\n", tag.start(), after)
            place = line_end if line_end >= 0 else after  # only the first `<` of a line can start it
    return "".join((*pieces, markdown[end:]))


@cache
def _options() -> ConversionOptions:
    """Return the options of the conversion.

    Those that are choices are named even where they are the default: html-to-markdown would look each of them up by its
    name for every page.
    """
    import html_to_markdown as library

    return library.ConversionOptions(
        extract_metadata=False,
        skip_images=True,
        compact_tables=True,
        highlight_style=library.HighlightStyle.NONE,
        expand_abbreviations=False,
        include_blockquote_citations=False,
        hidden_content=library.HiddenContent.REACHABLE,
        bullets="-",
        heading_style=library.HeadingStyle.ATX,
        list_indent_type=library.ListIndentType.SPACES,
        whitespace_mode=library.WhitespaceMode.NORMALIZED,
        newline_style=library.NewlineStyle.SPACES,
        code_block_style=library.CodeBlockStyle.BACKTICKS,
        inline_data_media=library.InlineDataMedia.KEEP,
        url_escape_style=library.UrlEscapeStyle.ANGLE,
        link_style=library.LinkStyle.INLINE,
        output_format=library.OutputFormat.MARKDOWN,
        tier_strategy=library.TierStrategy.AUTO,
        preprocessing=library.PreprocessingOptions(
            enabled=False,
            preset=library.PreprocessingPreset.STANDARD,
            remove_navigation=False,
            remove_forms=False,
        ),
    )

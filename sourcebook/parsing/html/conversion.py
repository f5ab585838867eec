"""Conversion of a tidied tree to Markdown with html-to-markdown."""

import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from sourcebook.parsing.html.tree import CODE_NEWLINE, Element

if TYPE_CHECKING:
    from html_to_markdown import ConversionOptions

_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_FENCE_OR_TAG = re.compile(
    r"^(?P<indent>[ >]*)(?P<fence>`{3,})[^`\n]*\n(?:.*\n)*?(?P=indent)(?P=fence)[ ]*$"
    r"|^(?P<before>[ >]*(?:(?:[-*+]|\d+\.)[ ]+)*)(?P<tag><(?=[a-z/!?])(?!https?:|mailto:))",
    re.MULTILINE | re.IGNORECASE,
)


def convert_tree(root: Element, *, base_url: str | None = None) -> str:
    """Return the Markdown of a tree, with plain spaces and without invisible characters.

    Args:
        root: the readable part of a page, with `CODE_NEWLINE` for line ends within code.
        base_url: base of relative links, which stay relative where None.
    """
    from html_to_markdown import convert
    from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

    html: str = etree.tostring(root, method="html", encoding="unicode", with_tail=False)
    # A line end in running text is white space; as a line end, it would start a Markdown block.
    html = html.replace("\n", " ").replace(CODE_NEWLINE, "\n")
    options = _options() if base_url is None else replace(_options(), base_url=base_url)
    markdown = (convert(html, options).content or "").replace("\u00a0", " ")
    return _INVISIBLE.sub("", _FENCE_OR_TAG.sub(_escaped_tag, markdown))


def _escaped_tag(found: re.Match[str]) -> str:
    """Escape text such as `<script>` at the start of a line, which would turn the following lines into raw HTML."""
    return found[0] if found["tag"] is None else f"{found['before']}\\<"


@cache
def _options() -> "ConversionOptions":
    from html_to_markdown import ConversionOptions, PreprocessingOptions

    return ConversionOptions(
        extract_metadata=False,
        skip_images=True,
        compact_tables=True,
        highlight_style="none",
        expand_abbreviations=False,
        include_blockquote_citations=False,
        hidden_content="reachable",
        bullets="-",
        preprocessing=PreprocessingOptions(enabled=False, remove_navigation=False, remove_forms=False),
    )

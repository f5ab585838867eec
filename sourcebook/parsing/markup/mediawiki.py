"""Dumps of MediaWiki: a heading a page, its wikitext as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from sourcebook.model.document import ParsedDocument
from sourcebook.model.left_out import with_left_out
from sourcebook.parsing.html.joined_html import add_html
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.text.joined_blocks import JoinedBlocks

if TYPE_CHECKING:
    from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

_ROOT: Final = re.compile(rb"<mediawiki\b[^>]*mediawiki\.org")
_WITHOUT_TEXT: Final = frozenset({"8", "10", "828"})
"""Namespaces of interface messages, templates and modules."""
_KEPT: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(nowiki|pre|syntaxhighlight|source|math)\b([^<>]*?)(?:/>|>(.*?)</\1\s*>)",
    re.DOTALL | re.IGNORECASE,
)
"""Comments, and text in which no mark counts."""
_LANGUAGE: Final = re.compile(r"""lang\s*=\s*["']?([\w+#-]+)""")
_PLACE: Final = re.compile("\x02(\\d+)\x03")
_PARAMETER: Final = re.compile(r"\{\{\{([^{}]*)\}\}\}")
_TEMPLATE: Final = re.compile(r"\{\{([^{}]*)\}\}")
_DEEPEST: Final = 20
_REF: Final = re.compile(
    r"<ref\b[^<>]*/>|<ref\b[^<>]*>(.*?)</ref\s*>|<references\b[^<>]*/?>", re.DOTALL | re.IGNORECASE
)
_CLOSING: Final = re.compile(r"</(?:nowiki|pre|syntaxhighlight|source|math|ref)\s*>|-->|/>", re.IGNORECASE)
_LINK: Final = re.compile(r"\[\[([^\[\]\n]*(?:\[[^\[\]\n]*\][^\[\]\n]*)*)\]\](\w*)")
_EXTERNAL: Final = re.compile(r"\[((?:https?:|ftp:)?//[^\s\[\]<>]+|mailto:[^\s\[\]<>]+)(?:[ \t]+([^\[\]\n]+))?\]")
_FILE: Final = re.compile(r"(?i)(?:file|image|datei|bild|fichier|archivo|bestand|fil):")
_CATEGORY: Final = re.compile(r"(?i)(?:category|kategorie|catégorie|categoría|categorie|kategori):")
_ATTRIBUTES: Final = re.compile(r"""(?>(?:[\w-]++\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s|"']++)\s*+)+)\|(?!\|)""")
_SPANS: Final = re.compile(r"""(rowspan|colspan)\s*=\s*["']?(\d+)""")
_MAGIC: Final = re.compile(r"__[A-Z]+__")


def read_wiki(content: bytes) -> ParsedDocument | None:
    """Return the document of a dump; None where the file is none. Redirects, templates and messages are left out."""
    if _ROOT.search(content[:2048]) is None:
        return None
    joined, left_out = JoinedBlocks(), 0
    title = None
    for page in _pages(content):
        if page is None:
            left_out += 1
            continue
        title, text = page
        joined.add_heading(title.replace("<", "\\<"), 1)
        add_html(joined, html_of_wikitext(text))
    markdown, blocks = joined.markdown(), tuple(joined.blocks)
    pages = sum(block.level == 1 and block.kind == "heading" for block in blocks)
    return ParsedDocument(
        markdown=markdown,
        blocks=blocks,
        title=title if pages == 1 else None,
        language=detect_language(markdown, blocks),
        metadata=with_left_out({"pages": pages}, {"records": left_out}),
    )


def _pages(content: bytes) -> Iterator[tuple[str, str] | None]:
    """Yield title and newest text of each page; None in the place of one that has no text of its own."""
    from lxml import etree

    read = etree.iterparse(BytesIO(content), tag="{*}page", huge_tree=True, resolve_entities=False, recover=True)
    for _, page in read:
        texts = page.findall("{*}revision/{*}text")
        is_own = page.find("{*}redirect") is None and _said(page, "{*}ns") not in _WITHOUT_TEXT
        yield (_said(page, "{*}title"), (texts[-1].text if texts else "") or "") if is_own else None
        page.clear()


def _said(element: etree._Element, path: str) -> str:
    return (element.findtext(path) or "").strip()


def html_of_wikitext(text: str) -> str:
    """Return wikitext as HTML, whose own tags it may hold: links, templates as their values, notes in brackets."""
    kept: list[str] = []
    text = _closed(_KEPT, lambda found: _keep(found, kept), text.translate({2: None, 3: None}))
    for pattern, rewrite in ((_PARAMETER, _parameter), (_TEMPLATE, _template)):
        for _ in range(_DEEPEST):
            text, count = pattern.subn(rewrite, text)
            if not count:
                break
    categories: list[str] = []
    text = _closed(_REF, lambda found: f" ({found[1].strip()})" if found[1] else "", text)
    for _ in range(2):  # a picture's caption has links of its own
        text = _LINK.sub(lambda found: _link(found, categories), text)
    text = _EXTERNAL.sub(lambda found: f'<a href="{escape(found[1])}">{found[2] or found[1]}</a>', text)
    lines = _Lines()
    for line in _MAGIC.sub("", text).split("\n"):
        lines.add(line)
    lines.close()
    said = f"<p>Categories: {', '.join(dict.fromkeys(categories))}</p>" if categories else ""
    return _PLACE.sub(lambda found: kept[int(found[1])], "\n".join(lines.html) + said)


def _closed(pattern: re.Pattern[str], rewrite: Callable[[re.Match[str]], str], text: str) -> str:
    """Rewrite elements up to the last one that ends: many that do not would take quadratic time."""
    end = max((found.end() for found in _CLOSING.finditer(text)), default=0)
    return pattern.sub(rewrite, text[:end]) + text[end:].partition("<!--")[0]


def _keep(found: re.Match[str], kept: list[str]) -> str:
    tag, attributes, inner = (found[1] or "").lower(), found[2] or "", found[3] or ""
    if not tag:
        return ""
    language = _LANGUAGE.search(attributes)
    name = f' class="language-{language[1]}"' if language else ""
    is_block = tag in {"pre", "syntaxhighlight", "source"} and "\n" in inner
    said = escape(inner.strip("\n") if is_block else inner, quote=False)
    shown = f"<pre><code{name}>{said}</code></pre>" if is_block else said if tag == "nowiki" else f"<code>{said}</code>"
    kept.append(shown)
    return f"\n\x02{len(kept) - 1}\x03\n" if is_block else f"\x02{len(kept) - 1}\x03"


def _parameter(found: re.Match[str]) -> str:
    return found[1].partition("|")[2]


def _template(found: re.Match[str]) -> str:
    """Return the values of a template: a list where they stand on lines of their own, else one text."""
    name, *values = found[1].split("|")
    if name.strip() == "!":
        return "|"
    pairs = [(key, value) if sign else ("", key) for key, sign, value in (each.partition("=") for each in values)]
    filled = [(key.strip(), value.strip()) for key, value in pairs if value.strip()]
    if "\n" in found[1] and any(key for key, _ in filled):
        return "\n" + "\n".join(f"* {key}: {value}" if key else f"* {value}" for key, value in filled) + "\n"
    return " ".join(value for key, value in filled if not key) or ", ".join(value for _, value in filled)


def _link(found: re.Match[str], categories: list[str]) -> str:
    target, *labels = found[1].split("|")
    target = target.strip()
    if _CATEGORY.match(target):
        categories.append(target.partition(":")[2].strip())
        return ""
    if _FILE.match(target):
        caption = labels[-1].strip() if labels else ""
        return f"\n<p>{caption}</p>\n" if " " in caption else ""
    shown = (labels[-1] if labels else target.lstrip(":")) + found[2]
    return f'<a href="{quote(target.lstrip(":"), safe="/#:")}">{shown}</a>'


class _Lines:
    """Lines of wikitext as HTML."""

    def __init__(self) -> None:
        self.html: list[str] = []
        self._lists = ""
        self._in_row = False
        self._tables = 0

    def add(self, line: str) -> None:
        """Add a line."""
        line = _emphasised(line)
        start = line.lstrip()
        if start.startswith("{|"):
            self._end_lists()
            self._tables += 1
            self.html.append("<table>")
            self._in_row = False
        elif self._tables and start[:1] in {"|", "!"} and start[:1]:
            self._add_to_table(start)
        elif (level := _level(start.rstrip())) and not self._tables:
            self._end_lists()
            self.html.append(f"<h{max(2, level)}>{start.strip()[level:-level].strip()}</h{max(2, level)}>")
        elif line[:1] in {"*", "#", ":", ";"} and line[:1]:
            self._add_item(line)
        else:
            self._end_lists()
            self.html.append("<hr>" if line.startswith("----") else line if self._tables or start else "<p>")

    def close(self) -> None:
        """End what is open."""
        self._end_lists()
        self.html += ["</table>"] * self._tables

    def _add_to_table(self, line: str) -> None:
        self._end_lists()
        if line.startswith("|}"):
            self._tables -= 1
            self.html.append("</table>")
        elif line.startswith("|-"):
            self.html.append("<tr>")
            self._in_row = True
        elif line.startswith("|+"):
            self.html.append(f"<caption>{_ATTRIBUTES.sub('', line[2:].strip(), count=1)}</caption>")
        else:
            if not self._in_row:
                self.html.append("<tr>")
                self._in_row = True
            tag = "th" if line[0] == "!" else "td"
            cells = re.split(r"\|\||!!", line[1:]) if tag == "th" else line[1:].split("||")
            self.html += [_cell(tag, cell) for cell in cells]

    def _add_item(self, line: str) -> None:
        marks = line[: len(line) - len(line.lstrip("*#:;"))][:_DEEPEST]
        wanted = marks.replace(":", "*").replace(";", "*")
        shared = len(self._lists)
        while not wanted.startswith(self._lists[:shared]):
            shared -= 1
        self._end_lists(shared)
        for mark in wanted[shared:]:
            self.html.append("<ol>" if mark == "#" else "<ul>")
        self._lists = wanted
        said = line.lstrip("*#:;").strip()
        self.html.append(f"<li><b>{said}</b>" if marks.endswith(";") else f"<li>{said}")

    def _end_lists(self, left: int = 0) -> None:
        for mark in reversed(self._lists[left:]):
            self.html.append("</ol>" if mark == "#" else "</ul>")
        self._lists = self._lists[:left]


def _level(line: str) -> int:
    """Return the level of a heading: the equals signs at both of its ends, 6 at most; 0 for another line."""
    level = min(len(line) - len(line.lstrip("=")), len(line) - len(line.rstrip("=")), (len(line) - 1) // 2, 6)
    return max(0, level)


def _cell(tag: str, cell: str) -> str:
    attributes = _ATTRIBUTES.match(cell.strip())
    spans = " ".join(f'{name}="{count}"' for name, count in _SPANS.findall(attributes[0])) if attributes else ""
    said = cell.strip()[attributes.end() :] if attributes else cell
    return f"<{tag}{' ' if spans else ''}{spans}>{said.strip()}"


def _emphasised(line: str) -> str:
    """Return a line with its runs of apostrophes as bold and italic text."""
    for sign, tag in (("'''", "b"), ("''", "i")):
        pieces: Sequence[str] = line.split(sign)
        if len(pieces) > 1:
            last = len(pieces) - 1
            marked = (
                f"<{tag}>{piece}</{tag}>" if number % 2 and number < last and piece else piece
                for number, piece in enumerate(pieces)
            )
            line = "".join(marked)
    return line

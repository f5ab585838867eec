"""A generated site of HTML pages like a project's documentation; equal arguments give equal pages."""

import os
import re
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path
from random import Random

from markdown_it import MarkdownIt

from benchmarks.corpora.markdown_files import document, sentence

START = "index.html"
PAGES_PER_CHAPTER = 20
_SIZES = (2_000, 4_000, 6_000, 9_000, 12_000, 18_000, 40_000)
"""Bytes of the main content as Markdown; the page around it adds 12 to 20 KB."""
_LINKS_IN_TEXT = 6
_MODIFIED = 1_750_000_000
"""Time of change of every file, for Last-Modified and ETag."""
_KEYWORDS = re.compile(r"\b(def|return)\b|(\d+)|(&quot;&quot;&quot;.*?&quot;&quot;&quot;)|(\w+)(?=\()")
_CLASSES = ("k", "mi", "sd", "nf")
_SCRIPT = "(function () { document.documentElement.className = 'js'; window.dataLayer = window.dataLayer || []; })();"


@dataclass(frozen=True)
class _Page:
    number: int
    path: str
    title: str
    markdown: str

    @property
    def chapter(self) -> int:
        """Number of its chapter; the first page belongs to none."""
        return (self.number - 1) // PAGES_PER_CHAPTER


def write_site(folder: Path, pages: int, *, seed: int = 1) -> list[Path]:
    """Write a site of so many pages and return their paths, `index.html` first.

    Every chapter is a folder whose first page is its `index.html`. Every page names all chapters and the other pages of
    its own, the next and the one before, and a few pages in its text, so that all can be reached from the first.
    """
    site = [_page(number, seed) for number in range(pages)]
    paths = []
    for page in site:
        path = folder / page.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_html(page, site, seed), encoding="utf-8")
        os.utime(path, (_MODIFIED + page.number, _MODIFIED + page.number))
        paths.append(path)
    return paths


def _page(number: int, seed: int) -> _Page:
    random = Random(f"size/{seed}/{number}")
    title, markdown = document(number, seed=seed, size=random.choice(_SIZES))
    if number == 0:
        return _Page(number, START, title, markdown)
    chapter, place = divmod(number - 1, PAGES_PER_CHAPTER)
    name = "index" if place == 0 else f"{place:02}-{'-'.join(title.lower().split())}"
    return _Page(number, f"chapter-{chapter:03}/{name}.html", title, markdown)


def _html(page: _Page, site: list[_Page], seed: int) -> str:
    """Return a whole page: head, banner, navigation, sidebar, main content, footer."""
    random = Random(f"links/{seed}/{page.number}")
    body, headings = _main(page, site, random)
    title = escape(page.title)
    chapters = site[1::PAGES_PER_CHAPTER]
    siblings = [other for other in site[1:] if page.number > 0 and other.chapter == page.chapter]
    root = "" if page.number == 0 else "../"
    contents = "\n".join(f'<li><a class="reference internal" href="#{name}">{text}</a></li>' for name, text in headings)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="{escape(sentence(random))}">
<meta property="og:title" content="{title}">
<meta property="og:type" content="article">
<title>{title} &#8212; Handbook</title>
<link rel="stylesheet" href="{root}static/theme.css">
<link rel="canonical" href="{root}{page.path}">
<script>{_SCRIPT}</script>
<script src="{root}static/search.js" defer></script>
</head>
<body>
<a class="skip-link" href="#main">Skip to the content</a>
<div class="cookie-banner" role="dialog" aria-label="Cookies">We use cookies. <button>Accept all</button></div>
<header class="site-header"><a class="brand" href="{root}{START}">Handbook</a>
<form role="search" action="{root}search"><input type="search" name="q" placeholder="Search"></form></header>
<nav class="sidebar" aria-label="Chapters">
{_list(chapters, page, siblings)}
</nav>
<main id="main" class="content">
<nav class="breadcrumbs" aria-label="Breadcrumbs"><a href="{root}{START}">Handbook</a> &raquo; {title}</nav>
<article itemprop="articleBody">
{body}</article>
{_neighbours(page, site)}
</main>
<aside class="on-this-page"><p>On this page</p>
<ul>
{contents}
</ul></aside>
<footer><p>&copy; 2024 The Handbook's authors. <a href="https://creativecommons.org/licenses/by/4.0/">Licence</a>.</p>
<p>Last updated on 12 March 2024.</p></footer>
</body>
</html>
"""


def _main(page: _Page, site: list[_Page], random: Random) -> tuple[str, list[tuple[str, str]]]:
    """Return the main content as HTML, and (id, text) of its headings."""
    parser = MarkdownIt("commonmark", {"highlight": _highlight}).enable("table")
    others = random.sample(site, min(_LINKS_IN_TEXT, len(site)))
    see = "\n".join(f"- {sentence(random)} See [{other.title}]({_reference(page, other)})." for other in others)
    tokens = parser.parse(f"{page.markdown}\n## Read on\n\n{see}\n")
    headings: list[tuple[str, str]] = []
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open":
            name = f"s{len(headings) + 1}-{'-'.join(content.content.lower().split())}"
            opening.attrSet("id", name)
            headings.append((name, escape(content.content)))
    return parser.renderer.render(tokens, parser.options, {}), headings


def _highlight(code: str, _language: str, _attributes: str) -> str:
    """Mark code up like a highlighter: one element for nearly every word."""
    return _KEYWORDS.sub(
        lambda found: f'<span class="{_CLASSES[(found.lastindex or 1) - 1]}">{found[0]}</span>', escape(code)
    )


def _list(chapters: list[_Page], page: _Page, siblings: list[_Page]) -> str:
    """Return all chapters, the page's own unfolded."""
    lines = ["<ul>"]
    for chapter in chapters:
        lines.append(f'<li class="toctree-l1">{_link(page, chapter)}')
        if siblings and chapter.chapter == page.chapter:
            lines += ["<ul>", *(f'<li class="toctree-l2">{_link(page, other)}</li>' for other in siblings), "</ul>"]
        lines.append("</li>")
    return "\n".join([*lines, "</ul>"])


def _neighbours(page: _Page, site: list[_Page]) -> str:
    before, after = site[max(page.number - 1, 0)], site[min(page.number + 1, len(site) - 1)]
    return f'<div class="prev-next" role="navigation">{_link(page, before)} {_link(page, after)}</div>'


def _link(page: _Page, other: _Page) -> str:
    return f'<a class="reference internal" href="{_reference(page, other)}">{escape(other.title)}</a>'


def _reference(page: _Page, other: _Page) -> str:
    return other.path if page.number == 0 else f"../{other.path}"

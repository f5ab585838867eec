"""Citations of a passage: as text, Markdown and BibTeX, and as a link that others can open."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from sourcebook.contract.search_results import SearchResult, printable
from sourcebook.server.page.rendering import address, shown_uri

_MARKDOWN: Final = re.compile(r"([\\`*_\[\]<>#|!])")
_BIBTEX: Final = {
    **{letter: f"\\{letter}" for letter in "{}%&$#_"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
_YEAR: Final = re.compile(r"\b(?:1[5-9]|20)\d\d\b")


def citations_of(hit: SearchResult, words: Sequence[str], source: str | None, server: str) -> dict[str, str]:
    """Return the citations of a passage by the name of their form.

    Args:
        hit: the passage.
        words: its place in words.
        source: address of its source on the web; None where it has none.
        server: address of this server as the reader knows it, with a slash at its end.
    """
    title = printable(hit.title or shown_uri(hit.uri))
    link = source or server + address("cited", {"document": str(hit.document_id), "at": str(hit.start_char)})
    said = (f"“{title}”", *words, source or shown_uri(hit.link or hit.uri))
    markdown = ", ".join((f"[{_plain(title)}]({link})", *map(_plain, words)))
    return {
        "Text": printable(", ".join(said)),
        "Markdown": printable(markdown),
        "BibTeX": printable(_bibtex(hit, title, words, link)),
        "Link": printable(link),
    }


def _plain(text: str) -> str:
    """Return a text whose signs have no meaning for Markdown."""
    return _MARKDOWN.sub(r"\\\1", text)


def _bibtex(hit: SearchResult, title: str, words: Sequence[str], link: str) -> str:
    year = _YEAR.search(str(hit.metadata.get("date") or hit.metadata.get("year") or ""))
    fields = {
        "title": f"{{{_escaped(title)}}}",
        "author": _escaped(_authors(hit.metadata)),
        "year": year[0] if year else "",
        "note": _escaped(", ".join(words)),
        "howpublished": rf"\url{{{link}}}",
        "urldate": f"{datetime.now(UTC):%Y-%m-%d}",
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return f"@misc{{document{hit.document_id}-{hit.ordinal},\n" + ",\n".join(lines) + "\n}"


def _authors(metadata: Mapping[str, Any]) -> str:
    """Return the authors of a document as BibTeX joins them."""
    named = metadata.get("authors") or metadata.get("author") or []
    return " and ".join(str(each) for each in (named if isinstance(named, list) else [named]))


def _escaped(text: str) -> str:
    return " ".join("".join(_BIBTEX.get(letter, letter) for letter in text).split())

"""HTML within another format, such as a chapter of a book or the body of a message: all of it is content."""

import re

from sourcebook.parsing.html.boilerplate import strip_unreadable
from sourcebook.parsing.html.code_blocks import flatten_code
from sourcebook.parsing.html.conversion import convert_tree
from sourcebook.parsing.html.tables import unwrap_layout_tables
from sourcebook.parsing.html.tidying import tidy_formulas, tidy_images, tidy_links, tidy_terms
from sourcebook.parsing.html.tree import CODE_NEWLINE, Element, body_of, parse_page, unwrap
from sourcebook.parsing.text.decode import clean

_DOCTYPE = re.compile(r"<!DOCTYPE[^<>\[]*(?:\[.*?\]\s*)?>", re.IGNORECASE | re.DOTALL)
_WEB_LINK = re.compile(r"\s*(?:https?|mailto|ftp):", re.IGNORECASE)


def html_body(text: str) -> Element | None:
    """Parse HTML or XHTML and return its body without scripts and styles; None where there is nothing to parse."""
    tree = parse_page(_DOCTYPE.sub("", text, count=1))
    if tree is None:
        return None
    strip_unreadable(tree)
    return body_of(tree)


def html_markdown(body: Element) -> str:
    """Convert the tree below `body`, which is changed on the way.

    Images leave their alternative text, and links that lead to no web or mail address only their text.
    """
    flatten_code(body)
    unwrap_layout_tables(body)
    tidy_images(body)
    for link in list(body.iter("a")):
        if not _WEB_LINK.match(link.get("href") or ""):
            unwrap(link)
    tidy_links(body)
    tidy_terms(body)
    tidy_formulas(body)
    return clean(convert_tree(body)).replace(CODE_NEWLINE, "").strip()

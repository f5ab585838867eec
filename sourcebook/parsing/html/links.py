"""Links of a page."""

import re
from urllib.parse import urljoin

from sourcebook.parsing.html.tree import Element

# Browsers remove line ends and tabs from a URL, and white space around it.
_IGNORED = re.compile(r"[\t\n\r]+|^[\x00-\x20]+|[\x00-\x20]+$")


def base_url(tree: Element, url: str) -> str:
    """Return the base of the page's relative URLs: its first <base href>, else its own URL."""
    for base in tree.iter("base"):
        if href := base.get("href"):
            return absolute(url, href) or url
    return url


def links(tree: Element, base: str) -> tuple[str, ...]:
    """Return the http(s) URLs that the whole page links to, without fragments, each once, in the order of the page.

    Links with rel=nofollow and links to the page's own anchors are left out.
    """
    found: dict[str, None] = {}
    resolved: dict[str, str | None] = {}
    for element in tree.iter("a", "area"):
        href = element.get("href")
        if href is None or href.startswith("#") or "nofollow" in (element.get("rel") or "").lower():
            continue
        reference = href.partition("#")[0]
        if reference not in resolved:
            resolved[reference] = absolute(base, reference)
        target = resolved[reference]
        if target is not None:
            found[target] = None
    return tuple(found)


def absolute(base: str, href: str) -> str | None:
    """Return the absolute http(s) URL of a reference; None where it is no URL or of another scheme."""
    try:
        target = urljoin(base, _IGNORED.sub("", href))
    except ValueError:  # such as an IPv6 address that does not end
        return None
    scheme, _, rest = target.partition("://")
    return target if scheme.lower() in {"http", "https"} and rest.strip("/") else None

"""Links of a page."""

import re
from functools import lru_cache
from urllib.parse import quote, urldefrag, urljoin

from sourcebook.parsing.html.tree import Element, plain_text

OWN_PAGE = "link-of-own-page:"
"""Scheme that `mark_own_links` gives to links within the page, in place of the page's URL."""
_LONGEST_BASE = 2000
_PATH = re.compile(r"(?!//)[^?#;:\x00-\x20][^:]*\Z")
"""References that are surely a path; others may be relative to the page itself, such as `?page=2`."""
_FOLDER = re.compile(r"https?://[^/?#]+/(?:[^?#]*/)?")
_REFRESH = re.compile(
    r"""\s*(?=[\d.])(\d*)[\d.]*(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|(.*))""", re.IGNORECASE
)
_UNSAFE = re.compile(r"""[\s"<>`]""")
# Browsers remove line ends and tabs from a URL, and white space around it.
_NEXT = frozenset(
    {"next", "next page", "next post", "next entries", "next articles", "next results", "older", "older posts"}
    | {
        "older entries",
        "older articles",
        "nächste",
        "nächste seite",
        "ältere beiträge",
        "weiter",
        "suivant",
        "suivante",
    }
    | {"page suivante", "siguiente", "página siguiente", "successiva", "pagina successiva", "próxima", "próxima página"}
    | {"volgende", "volgende pagina", "следующая", "следующая страница", "次へ", "次のページ", "下一页", "下一頁"}
)
"""Words of a link to the next page of a list."""
_SIGNS = " \t\n\r\xa0»›→>«‹←<|·:.…"
_LONGEST_WORDS = 40
_IGNORED = re.compile(r"[\t\n\r]+|^[\x00-\x20]+|[\x00-\x20]+$")


def base_url(tree: Element, url: str) -> str:
    """Return the base of the page's relative URLs: its first <base href>, else its own URL.

    One of more than 2,000 characters does not count, because each link would repeat it.
    """
    for base in tree.iter("base"):
        if (href := base.get("href")) and len(href) <= _LONGEST_BASE:
            return absolute(url, href) or url
    return url


def links(tree: Element, base: str) -> tuple[str, ...]:
    """Return the http(s) URLs that the whole page links to, each once, in the order of the page.

    They have no fragments, unless these are routes of the page's own scripts: `#/guide`, `#!/guide`.
    The page that the head calls the next one is among them, that to which it leads after a while (meta refresh), and
    links within drawings. Links with rel=nofollow and links to the page's own anchors are left out.
    """
    found: dict[str, None] = {}
    resolved: dict[str, str | None] = {}
    for element in tree.iter("a", "area", "link", "meta"):
        href, relations = element.get("href"), element.get("rel")
        if element.tag == "meta":
            href = (refresh(element, base) or ("", None))[1]
        elif href is None:
            href = element.get("xlink:href")
        words = relations.lower().split() if relations else ()
        if href is None or "nofollow" in words or (element.tag == "link" and "next" not in words):
            continue
        reference, sign, _ = href.partition("#")
        if sign and _is_route(href):
            reference = href
        elif sign and not reference:
            continue
        if reference not in resolved:
            resolved[reference] = absolute(base, reference)
        target = resolved[reference]
        if target is not None:
            found[target] = None
    return tuple(found)


def next_pages(tree: Element, base: str) -> tuple[str, ...]:
    """Return the http(s) URLs that a page calls its next page: by `rel=next`, or in the words of the link."""
    found = (
        absolute(base, (element.get("href") or "").partition("#")[0])
        for element in tree.iter("a", "link")
        if ((relations := element.get("rel")) and "next" in relations.lower().split())
        or (element.tag == "a" and _says_next(element))
    )
    return tuple(dict.fromkeys(url for url in found if url is not None))


def refresh(meta: Element, base: str) -> tuple[str, str | None] | None:
    """Return the digits of the whole seconds of a refresh, and the absolute URL; None for another <meta>."""
    if (meta.get("http-equiv") or "").strip().lower() != "refresh":
        return None
    found = _REFRESH.match(meta.get("content") or "")
    return (
        (found[1], absolute(base, (found[2] or found[3] or found[4] or "").strip() or "data:")) if found else ("", None)
    )


def _says_next(link: Element) -> bool:
    text = link.text or ""
    if not text.strip(_SIGNS) and 0 < len(link) < 3:
        text = plain_text(link)
    return len(text) <= _LONGEST_WORDS and _is_next(text)


@lru_cache(maxsize=4096)
def _is_next(text: str) -> bool:
    return " ".join(text.strip(_SIGNS).lower().split()) in _NEXT


def _is_route(href: str) -> bool:
    return "#/" in href or "#!/" in href


def mark_own_links(root: Element, base: str, page_url: str) -> None:
    """Mark the links below `root` that lead to the page itself: `#part` becomes `OWN_PAGE` and `#part`.

    A link does so where it is written as a bare fragment. Where the page's URL has a query, such as a session id that
    the server writes into every link, a link that names this URL with a fragment does so, too. `/index.html#part` does
    not, even on that page, because it is written alike under every URL of the page.

    Args:
        root: the readable part of a page.
        base: base of the page's relative URLs.
        page_url: URL of the page; nothing is marked where it is empty.
    """
    own = urldefrag(page_url)[0]
    is_base = bool(own) and urldefrag(base)[0] == own
    for link in root.iter("a") if own else ():
        href = link.get("href")
        if href is None or _is_route(href):
            continue
        path, sign, fragment = _without_ignored(href).partition("#")
        if is_base if not path else sign and "?" in own and absolute(base, path) == own:
            link.set("href", f"{OWN_PAGE}{sign}{_UNSAFE.sub(lambda found: quote(found[0]), fragment)}")


def _without_ignored(href: str) -> str:
    """Return a reference as browsers read it; nearly all are as they are written, which is quickly seen."""
    is_clean = href.isprintable() and href[:1] != " " and href[-1:] != " "
    return href if is_clean else _IGNORED.sub("", href)


def absolute(base: str, href: str) -> str | None:
    """Return the absolute http(s) URL of a reference; None where it is no URL or of another scheme."""
    reference = _without_ignored(href)
    is_path = _PATH.match(reference) is not None
    return _resolved(_folder_of(base) if is_path else base, reference)  # the pages of a folder share what paths lead to


@lru_cache(maxsize=4096)
def _resolved(base: str, reference: str) -> str | None:
    try:
        target = urljoin(base, reference)
    except ValueError:  # such as an IPv6 address that does not end
        return None
    scheme, _, rest = target.partition("://")
    return target if scheme.lower() in {"http", "https"} and rest.strip("/") else None


@lru_cache(maxsize=64)
def _folder_of(base: str) -> str:
    """Return a URL without the last segment of its path, its query and its fragment, which no path is relative to."""
    folder = _FOLDER.match(base)
    return folder[0] if folder else base

"""Names of documents, and their normal form: documents and what is written of them meet in it."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import unquote

from sourcebook.model.relation import DocumentName

URI, ID, ALIAS, FILE, TITLE = range(5)
_LONGEST: Final = 400
"""Characters of a name above which its digest stands in for it: an index takes no longer ones."""
_LONGEST_TITLE: Final = 200
_MOST_ALIASES: Final = 20
_EXTENSION: Final = re.compile(r"\.(?:md|mdx|markdown|rst|html?|xhtml|txt|adoc|asciidoc|org)$")
_INDEX: Final = re.compile(r"/(?:index|readme|_index)$")
_SEPARATORS: Final = re.compile(r"[\s_-]+")
_NUMBERED: Final = re.compile(r"([a-z]{1,20})[-#:. ]*0*(\d{1,9})")
_NUMBERED_START: Final = re.compile(r"([a-z]{2,20})-?0*(\d{1,9})(?=-|$)")
_NUMBER_FIRST: Final = re.compile(r"0*(\d{1,5})(?=-|$)(?!-\d)")
_TITLE_ID: Final = re.compile(r"\s*([A-Za-z]{2,10})[- #]?0*(\d{1,6})\s*(?:[:.–—]|\s-\s|$)")
_ROOT: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/]*")
_FILE_QUERY: Final = re.compile(r"(?<=\.)([a-z]{1,8})\?[^#]*(?=#|\Z)", re.IGNORECASE)
"""Query of a link between files, such as `guide.md?plain=1`, which pages that show them understand."""
_WEB: Final = re.compile(r"https?://", re.IGNORECASE)
_SERIES_OF_FOLDERS: Final = {
    "adr": "adr", "adrs": "adr", "decisions": "adr", "decision-records": "adr", "architecture-decisions": "adr",
    "rfcs": "rfc", "rfc": "rfc",
}  # fmt: skip
"""Series of documents whose file names are numbers, by the names of their folders."""
_ALIAS_FIELDS: Final = ("aliases", "alias", "slug")
_ADDRESS_FIELDS: Final = (*_ALIAS_FIELDS, "permalink", "url", "redirect_from")
"""Fields of Hugo, Jekyll and Docusaurus that may hold the path of the published page, from the root of the site."""
_ID_FIELDS: Final = ("id", "identifier")


def normal_name(text: str) -> str:
    """Return the normal form of a name: `ADR 0004`, `adr-4` and `adr_0004.md` are one."""
    name = unicodedata.normalize("NFKC", _storable(text)).casefold().strip()
    name = _SEPARATORS.sub("-", _EXTENSION.sub("", name)).strip("-")
    numbered = _NUMBERED.fullmatch(name)
    return _short(f"{numbered[1]}-{numbered[2]}" if numbered else name)


def normal_uri(uri: str) -> tuple[str, str]:
    """Return the normal form of a URI without and with its extension: `…/guide/` and `…/Guide.md#top` are one."""
    root = _ROOT.match(uri)
    is_web = _WEB.match(uri) is not None
    path = uri.partition("#")[0]
    query = ""
    if is_web:
        path, _, query = path.partition("?")
        path = "https://" + path.partition("://")[2]
    exact = unicodedata.normalize("NFC", _storable(unquote(path))).casefold().rstrip("/")
    stem = _INDEX.sub("", _EXTENSION.sub("", exact)) if root else _EXTENSION.sub("", exact)
    tail = f"?{_storable(query)}" if query else ""
    return _short(stem + tail), _short(exact + tail)


def joined(uri: str, link: str, root: str) -> str:
    """Return the URI that a link in a document means.

    Args:
        uri: the document's URI.
        link: the link as it is written, without its anchor.
        root: the URI of the source's folder: a link that begins with `/` starts there, on a web site at the host.
    """
    if _ROOT.match(link):
        return link
    if not _WEB.match(uri):
        link = _FILE_QUERY.sub(r"\1", link)
    base = _ROOT.match(uri)
    authority = base[0] if base else ""
    if link.startswith("//"):
        return f"https:{link}"
    if link.startswith("/"):
        path = link
        start = authority if _WEB.match(uri) else root.rstrip("/")
        return start + _walked("", path)
    folder = uri[len(authority) :].partition("?")[0].rpartition("/")[0]
    return authority + _walked(folder, link)


def names_of(uri: str, title: str | None, metadata: Mapping[str, Any], root: str = "") -> list[DocumentName]:
    """Return the names of a document, each once, those of least rank first.

    Args:
        uri: its URI.
        title: its title.
        metadata: its metadata.
        root: the URI of the source's folder, where the paths of its published page begin.
    """
    stem_uri, exact = normal_uri(uri)
    found = [DocumentName(stem_uri, URI, exact)]
    segments = unquote(stem_uri.partition("?")[0]).split("/")
    stem = normal_name(segments[-1]) if len(segments) > 1 else normal_name(stem_uri)
    found += [DocumentName(name, ID) for name in _ids(stem, normal_name(segments[-2]) if len(segments) > 1 else "")]
    found += [DocumentName(normal_name(value), ID) for value in _texts(metadata, _ID_FIELDS) if not value.isdigit()]
    if title and (own := _TITLE_ID.match(title)):
        found.append(DocumentName(normal_name(f"{own[1]}-{own[2]}"), ALIAS))
    found += [DocumentName(normal_name(value), ALIAS) for value in _texts(metadata, _ALIAS_FIELDS)]
    for path in _texts(metadata, _ADDRESS_FIELDS):
        if path.startswith("/") and root:
            address, whole = normal_uri(joined(uri, path, root))
            found.append(DocumentName(address, ALIAS, whole))
    found.append(DocumentName(stem, FILE))
    if title and len(title) <= _LONGEST_TITLE:
        found.append(DocumentName(normal_name(title), TITLE))
    first: dict[str, DocumentName] = {}
    for name in found:
        if name.name:
            first.setdefault(name.name, name)
    return list(first.values())


def series_of(names: Iterable[DocumentName]) -> str | None:
    """Return the series that a document is of, such as `eip`: a bare number in its fields is of the same series."""
    for name in names:
        if name.rank in {ID, ALIAS} and (numbered := _NUMBERED.fullmatch(name.name)):
            return numbered[1]
    return None


def _ids(stem: str, folder: str) -> list[str]:
    if numbered := _NUMBERED_START.match(stem):
        return [f"{numbered[1]}-{numbered[2]}"]
    series = _SERIES_OF_FOLDERS.get(folder)
    if series and (number := _NUMBER_FIRST.match(stem)):
        return [f"{series}-{number[1]}"]
    return []


def _texts(metadata: Mapping[str, Any], fields: Iterable[str]) -> list[str]:
    values: list[str] = []
    for field in fields:
        value = metadata.get(field)
        listed = value if isinstance(value, list) else [value]
        values += [str(each) for each in listed[:_MOST_ALIASES] if isinstance(each, str | int) and str(each).strip()]
    return values


def _walked(folder: str, path: str) -> str:
    """Return a path below a folder, without `.` and `..`."""
    parts = folder.split("/") if folder else [""]
    for part in path.split("/"):
        if part == "..":
            if len(parts) > 1:
                parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def _storable(text: str) -> str:
    """Return a text without NUL and half characters, which `%00` in a link makes and PostgreSQL cannot hold."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _short(name: str) -> str:
    if len(name) <= _LONGEST:
        return name
    return "sha256:" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()

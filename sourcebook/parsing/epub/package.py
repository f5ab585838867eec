"""The package document of an EPUB: reading order, table of contents and metadata."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import JsonValue
from sourcebook.parsing.epub.archive import EpubArchive, XmlElement, archive_path, attribute
from sourcebook.parsing.text.decode import clean

_MOST_DOCUMENTS = 20_000
_NAMES = {
    "publisher": "publisher",
    "date": "published",
    "language": "language",
    "identifier": "identifier",
    "description": "description",
}
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class TocEntry:
    """An entry of the table of contents."""

    title: str
    depth: int
    """Level in the table of contents, from 1."""
    path: str
    fragment: str


@dataclass(frozen=True, slots=True)
class Package:
    """Parts and metadata of a book."""

    title: str | None
    metadata: Mapping[str, JsonValue]
    spine: tuple[str, ...]
    """Paths of the chapters in reading order, without repetition."""
    navigation: frozenset[str]
    """Paths of the documents that hold a table of contents."""
    covers: frozenset[str]
    toc: tuple[TocEntry, ...]


def read_package(archive: EpubArchive) -> Package:
    """Read container, package document and table of contents.

    Raises:
        ParseError: there is no package document, or it names no chapter.
    """
    path = _package_path(archive)
    root = archive.read_xml(path)
    if root is None:
        raise ParseError(
            "it is a zip archive, but no EPUB: it has no readable package document; check its file name",
            FailureClass.UNSUPPORTED,
        )
    items = {attribute(item, "id"): item for item in root.iter("{*}item")}
    places = {name: archive_path(path, attribute(item, "href")) for name, item in items.items()}
    spine = (places.get(attribute(reference, "idref"), "") for reference in root.iter("{*}itemref"))
    chapters = tuple(dict.fromkeys(place for place in spine if place))
    if not chapters:
        raise ParseError(
            "the EPUB names no chapter to read; open and save it in an editor of such books", FailureClass.EMPTY
        )
    if len(chapters) > _MOST_DOCUMENTS:
        raise ParseError(f"the EPUB has more than {_MOST_DOCUMENTS:,} parts; split it", FailureClass.TOO_LARGE)
    nav = {places[name] for name, item in items.items() if "nav" in attribute(item, "properties").split()}
    guide = [
        (attribute(entry, "type"), archive_path(path, attribute(entry, "href"))) for entry in root.iter("{*}reference")
    ]
    ncx = [places[name] for name, item in items.items() if attribute(item, "media-type") == "application/x-dtbncx+xml"]
    return Package(
        title=_first(root, "title"),
        metadata=_metadata(root),
        spine=chapters,
        navigation=frozenset({*nav, *(place for kind, place in guide if kind == "toc")}),
        covers=frozenset(place for kind, place in guide if kind == "cover"),
        toc=tuple(_toc(archive, sorted(nav), ncx)),
    )


def _package_path(archive: EpubArchive) -> str:
    container = archive.read_xml("META-INF/container.xml")
    named = [attribute(file, "full-path") for file in container.iter("{*}rootfile")] if container is not None else []
    found = [path for path in archive.paths if path.lower().endswith(".opf")]
    return next((archive_path("", path) for path in [*named, *found] if path), "")


def _metadata(root: XmlElement) -> dict[str, JsonValue]:
    authors = list(dict.fromkeys(_values(root, "creator")))
    subjects: list[JsonValue] = list(dict.fromkeys(_values(root, "subject")))
    found: dict[str, JsonValue] = {name: value for key, name in _NAMES.items() if (value := _first(root, key))}
    if authors:
        found["author"] = ", ".join(authors)
    if subjects:
        found["tags"] = subjects
    return found


def _first(root: XmlElement, name: str) -> str | None:
    return next(_values(root, name), None)


def _values(root: XmlElement, name: str) -> Iterator[str]:
    for element in root.iter(f"{{http://purl.org/dc/elements/1.1/}}{name}"):
        if text := " ".join(clean("".join(element.itertext())).split())[:_LONGEST]:
            yield text


def _toc(archive: EpubArchive, nav: list[str], ncx: list[str]) -> Iterator[TocEntry]:
    """Yield the entries of the navigation document (EPUB 3), else of the NCX (EPUB 2)."""
    for path in nav:
        root = archive.read_xml(path)
        toc = None if root is None else next((found for found in root.iter("{*}nav") if _is_toc(found)), None)
        if toc is not None:
            yield from _nav_entries(toc, path)
            return
    for path in ncx:
        root = archive.read_xml(path)
        if root is not None:
            yield from _ncx_entries(root, path)
            return


def _is_toc(nav: XmlElement) -> bool:
    return "toc" in (attribute(nav, "{http://www.idpf.org/2007/ops}type") or "toc").split()


def _nav_entries(nav: XmlElement, base: str) -> Iterator[TocEntry]:
    waiting = [(nav, 0)]
    while waiting:
        element, depth = waiting.pop()
        name = str(element.tag).rpartition("}")[2]
        if name == "a":
            yield from _entry("".join(element.itertext()), depth, base, attribute(element, "href"))
        inside = depth + 1 if name == "ol" else depth
        waiting.extend((child, inside) for child in reversed(list(element)))


def _ncx_entries(root: XmlElement, base: str) -> Iterator[TocEntry]:
    waiting = [(root, 0)]
    while waiting:
        element, depth = waiting.pop()
        name = str(element.tag).rpartition("}")[2]
        if name == "navPoint":
            depth += 1
            label = next(("".join(text.itertext()) for text in _children(element, "navLabel")), "")
            target = next((attribute(content, "src") for content in _children(element, "content")), "")
            yield from _entry(label, depth, base, target)
        waiting.extend((child, depth) for child in reversed(list(element)))


def _children(element: XmlElement, name: str) -> list[XmlElement]:
    return [child for child in element if str(child.tag).rpartition("}")[2] == name]


def _entry(title: str, depth: int, base: str, target: str) -> Iterator[TocEntry]:
    title = " ".join(clean(title).split())[:300]
    path = archive_path(base, target)
    if title and path:
        yield TocEntry(title, max(depth, 1), path, target.partition("#")[2])

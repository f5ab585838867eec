"""A space of Confluence exported as XML: a document a page, in the folders of the pages above it, with its files."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Final

from sourcebook.parsing.archives.members import Member, Unread, damaged

if TYPE_CHECKING:
    from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

ENTITIES: Final = "entities.xml"
_DESCRIPTOR: Final = "exportDescriptor.properties"
_ATTACHMENT: Final = re.compile(r"(?:.*/)?attachments/\d+/(\d+)/(\d+)(?:\.\w+)?")
_PAGES: Final = frozenset({"Page", "BlogPost"})
_MOST_ABOVE: Final = 50
_SLASH: Final = re.compile(r"[/\\\x00-\x1f]+")


@dataclass(slots=True)
class _Thing:
    """An object of the export: a page, a body, a comment, a file."""

    kind: str
    id: str
    values: dict[str, str] = field(default_factory=dict)
    """Texts by their properties; of a property that is another object, its id."""


def export_folder(paths: Sequence[str]) -> str | None:
    """Return the folder of an export among paths, "" for the root; None where there is none."""
    held = set(paths)
    folders = (path.removesuffix(ENTITIES) for path in paths if path.rpartition("/")[2] == ENTITIES)
    return next((folder for folder in folders if f"{folder}{_DESCRIPTOR}" in held), None)


def pages(folder: str, members: Sequence[Member | Unread]) -> Iterator[Member | Unread]:
    """Yield the pages of an export and the newest version of each of their files, in place of how they are packed.

    Raises:
        ParseError: the list of all things is damaged.
    """
    held = {member.path: member for member in members if isinstance(member, Member)}
    entities = held[f"{folder}{ENTITIES}"]
    export = _Export(_things(entities.read()))
    yield from (member for member in members if isinstance(member, Unread))
    for page in export.pages:
        yield Member(f"{export.path(page)}.html", 0, partial(export.html, page), entities.seal)
    older = 0
    for path, member in held.items():
        found = _ATTACHMENT.fullmatch(path)
        name = export.file(found[1], found[2]) if found is not None else None
        if name is not None:
            yield Member(name, member.size, member.read, member.seal)
        elif found is not None:
            older += 1
        elif path not in {f"{folder}{ENTITIES}", f"{folder}{_DESCRIPTOR}"}:
            yield member
    if older:
        yield Unread("that are earlier versions, or files of pages that were removed", older)


class _Export:
    def __init__(self, things: Sequence[_Thing]) -> None:
        self._by_id = {(thing.kind, thing.id): thing for thing in things}
        self._bodies: defaultdict[str, str] = defaultdict(str)
        self._comments: defaultdict[str, list[_Thing]] = defaultdict(list)
        for thing in things:
            if thing.kind == "BodyContent":
                self._bodies[thing.values.get("content", "")] += thing.values.get("body", "")
            elif thing.kind == "Comment" and _is_current(thing):
                self._comments[thing.values.get("containerContent", thing.values.get("owner", ""))].append(thing)
        self.pages = [thing for thing in things if thing.kind in _PAGES and _is_current(thing)]

    def path(self, page: _Thing) -> str:
        """Return the path of a page: the titles of those above it, then its own."""
        return "/".join(_SLASH.sub("-", title).strip(". ") or "-" for title in self._titles(page))

    def html(self, page: _Thing) -> bytes:
        """Return a page with its place in the tree as heading, and the comments on it."""
        titles = self._titles(page)
        dates = {"published": page.values.get("creationDate"), "modified": page.values.get("lastModificationDate")}
        metas = "".join(
            f'<meta property="article:{name}_time" content="{escape(date)}">' for name, date in dates.items() if date
        )
        comments = "".join(f"<blockquote>{self._bodies[each.id]}</blockquote>" for each in self._comments[page.id])
        said = f"<h2>Comments</h2>{comments}" if comments else ""
        head = f'<meta charset="utf-8"><title>{escape(titles[-1])}</title>{metas}'
        body = f"<h1>{escape(' › '.join(titles))}</h1>{self._bodies[page.id]}{said}"
        return f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>".encode("utf-8", "replace")

    def file(self, ident: str, version: str) -> str | None:
        """Return the path of a file below its page; None for an earlier version, or where its page is gone."""
        file = self._by_id.get(("Attachment", ident))
        if file is None or not _is_current(file) or file.values.get("version", version) != version:
            return None
        owner = next(
            (file.values[name] for name in ("containerContent", "content", "owner") if name in file.values), ""
        )
        page = next((found for kind in _PAGES if (found := self._by_id.get((kind, owner))) is not None), None)
        name = file.values.get("title") or file.values.get("fileName")
        return f"{self.path(page)}/{_SLASH.sub('-', name)}" if page is not None and name and _is_current(page) else None

    def _titles(self, page: _Thing) -> list[str]:
        titles: list[str] = []
        above: _Thing | None = page
        while above is not None and len(titles) < _MOST_ABOVE:
            titles.append(above.values.get("title") or above.id)
            above = self._by_id.get(("Page", above.values.get("parent", "")))
        return titles[::-1]


def _is_current(thing: _Thing) -> bool:
    return thing.values.get("contentStatus", "current") == "current" and not thing.values.get("originalVersion")


def _things(content: bytes) -> list[_Thing]:
    """Return the objects of the list, each freed once it is read."""
    from lxml import etree

    found = []
    try:
        for _, element in etree.iterparse(
            BytesIO(content), tag="object", huge_tree=True, resolve_entities=False, recover=True
        ):
            found.append(_thing(element))
            element.clear()
    except etree.XMLSyntaxError as error:
        raise damaged("the list of pages in the export is damaged; export the space again") from error
    return found


def _thing(element: etree._Element) -> _Thing:
    values: dict[str, str] = {}
    for each in element.iterchildren("property"):
        inner = each.find("id")
        text = (inner if inner is not None else each).text or ""
        values[str(each.get("name"))] = text.replace("]] >", "]]>")  # as Confluence writes CDATA within CDATA
    ident = element.find("id")
    return _Thing(str(element.get("class") or ""), (ident.text or "") if ident is not None else "", values)

"""Documents of a server: lists page by page, texts, labels, originals and pictures of pages."""

import hashlib
import re
import struct
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, Final, cast
from urllib.parse import unquote

from sourcebook.client.answers import read
from sourcebook.client.derived import Arguments, document_number, in_query
from sourcebook.client.server_connection import ServerConnection
from sourcebook.contract.documents import Document, Item
from sourcebook.contract.listing import DocumentsRequest
from sourcebook.contract.originals import Original
from sourcebook.errors import ChangedSettingsError, OriginalError
from sourcebook.model.cursors import cursor_of
from sourcebook.model.page_picture import Box, PagePicture

_PAGE: Final = 1_000
"""Items of a request."""
_ATTEMPTS: Final = 5
"""Attempts to change labels that others change as well."""
_IN_MEMORY: Final = 8_000_000
"""Bytes of an original from which it is kept in a temporary file."""
_NAME: Final = re.compile(r"filename\*=UTF-8''([^;\s]+)")


@dataclass(frozen=True, slots=True)
class ItemPage:
    """Documents, and where the next page begins."""

    documents: list[Item]
    next_cursor: str | None
    total: int | None = None


@dataclass(frozen=True, slots=True)
class PagePlaces:
    """A page of a PDF; width and height in points."""

    page: int
    pages: int
    width: int
    height: int
    boxes: tuple[Box, ...]


def documents(server: ServerConnection, given: Arguments) -> list[Item]:
    """Return documents with their states; long lists come in several requests."""
    options = dict(given)
    after = options.pop("after", None)
    DocumentsRequest.of(**options)
    limit, offset = options.pop("limit", None), options.pop("offset")
    asked = in_query(options)
    if after is not None:
        asked["cursor"] = cursor_of(*after)
    # The sources among failed items come behind all items: no place in their order says where a page ended.
    by_offset = bool(options["failed"] or options.get("failure") or options["processing"])
    return list(_items(server, asked, limit, offset, by_offset=by_offset or "source" in options["kinds"]))


def _items(
    server: ServerConnection, options: dict[str, object], limit: int | None, offset: int, *, by_offset: bool
) -> Iterator[Item]:
    left = limit
    while True:
        asked = _PAGE if left is None else min(left, _PAGE)
        page = read(ItemPage, server.get("/v1/documents", {**options, "limit": asked, "offset": offset}))
        yield from page.documents
        left = None if left is None else left - len(page.documents)
        if left == 0 or len(page.documents) < asked:
            return
        if page.next_cursor is not None:
            options, offset = {**options, "cursor": page.next_cursor}, 0
        elif by_offset:
            offset += asked
        else:
            return


def count_documents(server: ServerConnection, given: Arguments) -> int:
    """Return the number of items of a list, which the server tells with its first page."""
    DocumentsRequest.of(**given)
    return read(ItemPage, server.get("/v1/documents", {**in_query(given), "limit": 1})).total or 0


def show(server: ServerConnection, given: Arguments) -> Document:
    """Return one document; the server looks its name up."""
    document = given["document"]
    named = {"id": document} if isinstance(document, int) else {"name": str(document)}
    asked = {**named, "collection": given.get("collection"), "unredacted": given["unredacted"] or None}
    return read(Document, server.get("/v1/documents/lookup", asked))


def change_document(server: ServerConnection, given: Arguments) -> Document:
    """Send tags and metadata that were given by hand; return the document as it is then."""
    number = document_number(server, given["document"], given.get("collection"))
    body: dict[str, Any] = {"tags": list(given["tags"])} if "tags" in given else {}
    body |= {"metadata": dict(given["metadata"])} if "metadata" in given else {}
    body |= {"title": given["title"]} if "title" in given else {}
    server.change("PATCH", f"/v1/documents/{number}", body)
    return show(server, {"document": number, "unredacted": False})


def curate_document(server: ServerConnection, given: Arguments) -> Document:
    """Send how a document is to stand in searches; return the document as it is then."""
    number = document_number(server, given["document"], given.get("collection"))
    body = {name: given[name] for name in ("boost", "reason") if name in given}
    server.change("PUT", f"/v1/documents/{number}/curation", body)
    return show(server, {"document": number, "unredacted": False})


def relabel(server: ServerConnection, given: Arguments) -> Document:
    """Send the labels that a function makes of those that a document has, again where they have changed meanwhile."""
    number = document_number(server, given["document"], given.get("collection"))
    for attempt in range(_ATTEMPTS):
        tag = server.exchange("GET", f"/v1/documents/{number}", repeatable=True).headers["ETag"]
        tags, metadata = given["labels"](show(server, {"document": number, "unredacted": False}))
        body = {"tags": None if tags is None else list(tags), "metadata": None if metadata is None else dict(metadata)}
        body |= {"title": given["title"]} if "title" in given else {}
        try:
            server.change("PATCH", f"/v1/documents/{number}", body, headers={"If-Match": tag})
            break
        except ChangedSettingsError:
            if attempt == _ATTEMPTS - 1:
                raise
    return show(server, {"document": number, "unredacted": False})


def original(server: ServerConnection, given: Arguments) -> Original:
    """Get the bytes that a document was made from, compared with the hash that the server tells.

    Raises:
        OriginalError: the bytes that arrived are not those that the server tells of.
    """
    number = document_number(server, given["document"], given.get("collection"))
    lifted = "?unredacted=true" if given["unredacted"] else ""
    # The receiver of the original closes it.
    stream = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
    sha256, size = hashlib.sha256(), 0
    try:
        with server.download(f"/v1/documents/{number}/original{lifted}") as response:
            for piece in response.iter_bytes():
                sha256.update(piece)
                size += stream.write(piece)
            headers = response.headers
        _check_hash(headers.get("etag", ""), sha256.hexdigest())
    except BaseException:
        stream.close()
        raise
    stream.seek(0)
    found = _NAME.search(headers.get("content-disposition", ""))
    return Original(
        unquote(found[1]) if found else "original",
        headers.get("content-type", "application/octet-stream"),
        size,
        sha256.hexdigest(),
        cast("BinaryIO", stream),
    )


def page_image(server: ServerConnection, given: Arguments) -> PagePicture:
    """Return a page of a PDF as a picture, with the places of a passage on it."""
    number = document_number(server, given["document"], given.get("collection"))
    path = f"/v1/documents/{number}/pages/{given['page']:d}"
    asked = {"passage": given.get("passage"), "unredacted": given["unredacted"] or None}
    places = read(PagePlaces, server.get(path, asked))
    picture = PagePicture(b"", places.width, places.height, places.page, places.pages, places.boxes)
    if given["scale"] is None:
        return picture
    png = server.get(f"{path}.png", {"scale": given["scale"], **asked})
    width, height = struct.unpack(">II", png[16:24])  # of the header of a PNG
    return replace(picture, png=png, width=width, height=height)


def _check_hash(tag: str, sha256: str) -> None:
    """Raise an `OriginalError` where other bytes arrived than those of the entity tag."""
    if tag.strip('"') != sha256:
        raise OriginalError("the original did not arrive as the server has it: try again")

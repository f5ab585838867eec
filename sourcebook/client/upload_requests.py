"""Uploads to a server."""

from collections.abc import Iterator
from typing import BinaryIO, Final
from urllib.parse import quote

from sourcebook.client.answers import read_list
from sourcebook.client.derived import Arguments, checked_limit, plain
from sourcebook.client.server_connection import ServerConnection, segment
from sourcebook.contract.fields import checked_names
from sourcebook.contract.uploads import Upload
from sourcebook.errors import QueryError
from sourcebook.model.cursors import cursor_of
from sourcebook.model.upload_names import upload_name

_PAGE: Final = 500
"""Uploads of a request."""
_PIECE: Final = 1 << 20
"""Bytes that are sent at once."""


def upload(server: ServerConnection, given: Arguments) -> Upload:
    """Send bytes, again where the server is away; a file is sent once, to its end, in constant memory."""
    content = given["content"]
    response = server.exchange(
        "PUT",
        _path(given["collection"], given["name"]),
        parameters={"tag": list(given["tags"]), "title": given.get("title"), **_readers(given)},
        content=content if isinstance(content, bytes) else _pieces(content),
        headers={"Content-Type": "application/octet-stream"},
        repeatable=isinstance(content, bytes),
    )
    return read_list(Upload, response.content, "uploads")[0]


def uploads(server: ServerConnection, given: Arguments) -> list[Upload]:
    """Return the present version of each upload; long lists come in several requests."""
    limit, after = checked_limit(given["limit"]), given.get("after")
    names = list(checked_names(given.get("collections")) or ())
    found: list[Upload] = []
    while len(found) < limit:
        asked = min(limit - len(found), _PAGE)
        options = {"collection": names, "limit": asked, "cursor": None if after is None else cursor_of(*after)}
        page = read_list(Upload, server.get("/v1/uploads", options), "uploads")
        found += page
        if len(page) < asked:
            break
        after = (page[-1].collection, page[-1].name)
    return found


def upload_versions(server: ServerConnection, given: Arguments) -> list[Upload]:
    """Return every version of an upload that is kept; none where there is no such upload."""
    content = server.find(_path(given["collection"], given["name"]))
    if content is not None:
        return read_list(Upload, content, "versions")
    server.get(f"/v1/collections/{segment(given['collection'])}")  # raises where it is that
    return []


def _readers(given: Arguments) -> dict[str, object]:
    """Return the principals who see an upload, and who do not; none where it names none.

    Raises:
        QueryError: the list of them is empty, which no parameter says.
    """
    allowed = given.get("allowed")
    named = [allowed] if isinstance(allowed, str) else list(allowed or ())
    if allowed is not None and not named:
        raise QueryError("allowed: name at least one principal")
    return {"allowed": named, "denied": plain(given["denied"])}


def _path(collection: str, name: str) -> str:
    """Return the path of an upload.

    Raises:
        QueryError: no upload can have this name, or no collection that.
    """
    upload_name(name)
    parts = (segment(collection), quote(name, safe="/", errors="replace"))
    return "/v1/uploads/" + "/".join(parts)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece

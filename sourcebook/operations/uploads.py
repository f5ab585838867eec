"""Bytes that are sent to a knowledge base, and their removal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO, Final

from sourcebook.contract.fields import checked_names

if TYPE_CHECKING:
    from sourcebook.admin.uploads import NewUpload
    from sourcebook.contract.uploads import Upload
    from sourcebook.files.upload_store import UploadStore
    from sourcebook.operations.opened import Opened

_PIECE: Final = 1 << 20
"""Bytes that are copied at once."""


def upload(
    knowledge: Opened,
    collection: str,
    name: str,
    content: bytes | BinaryIO,
    *,
    tags: Sequence[str] = (),
    title: str | None = None,
    allowed: Sequence[str] | str | None = None,
    denied: Sequence[str] | str = (),
    actor: str | None = None,
) -> Upload:
    """Store bytes under a name; the next ingest makes a document of them.

    Other bytes under the same name are its next version; the same ones change nothing.

    Args:
        collection: name of the collection.
        name: a path such as `policies/leave.md`, of at most 255 bytes.
        content: the bytes, or a file that is read to its end in constant memory.
        tags: of the document; where empty, those of the version before.
        title: shown in place of the document's own; "" takes it back, None leaves it.
        allowed: principals who see the document, or one; None for those of the version before, or of the collection.
        denied: principals who do not see it, whatever else they are; given with `allowed`.
        actor: who uploads it.

    Raises:
        QueryError: the collection does not exist, or the name, a tag or a principal is not allowed.
        UploadError: there are no bytes, or they cannot be stored; nothing of them is kept.
    """
    from io import BytesIO

    from sourcebook.admin.uploads import NewUpload, upload_readers
    from sourcebook.model.upload_names import upload_name, upload_tags

    readers = upload_readers(allowed, denied)
    upload_name(name), upload_tags(tags)
    file = BytesIO(content) if isinstance(content, bytes) else content
    with upload_store(knowledge).begin() as incoming:
        while piece := file.read(_PIECE):
            incoming.write(piece)
        incoming.finish()
        new = NewUpload(name, incoming, tuple(tags), title, readers)
        (uploaded,) = add_uploads(knowledge, collection, [new], actor=actor)
    return uploaded


def upload_store(knowledge: Opened) -> UploadStore:
    """Return the store that takes the bytes of uploads."""
    from sourcebook.files.upload_store import open_store

    return open_store(knowledge.database.location.home)


def add_uploads(
    knowledge: Opened, collection: str, new: Sequence[NewUpload], *, actor: str | None = None, may_open: bool = True
) -> list[Upload]:
    """Store bytes that have arrived in the store, all of them or none; see `upload`."""
    from sourcebook.admin.audit import account
    from sourcebook.admin.uploads import add_uploads

    with knowledge.database.connection() as connection:
        return add_uploads(connection, collection, new, actor=actor or account(), may_open=may_open)


def uploads(
    knowledge: Opened,
    collections: Sequence[str] | str | None = None,
    *,
    limit: int = 50,
    after: tuple[str, str] | None = None,
) -> list[Upload]:
    """Return the present version of each upload, by collection and name.

    Args:
        collections: names, or one name; every collection where None.
        limit: the most uploads, 1 to 1,000.
        after: collection and name of the upload before the first one.

    Raises:
        QueryError: a collection does not exist, or the limit is not allowed.
    """
    from sourcebook.admin.uploads import list_uploads

    with knowledge.database.connection() as connection:
        return list_uploads(connection, checked_names(collections), limit=limit, after=after)


def upload_versions(knowledge: Opened, collection: str, name: str) -> list[Upload]:
    """Return every version of an upload that is kept, the newest first; none where there is no such upload.

    Args:
        collection: name of the collection.
        name: of the upload.

    Raises:
        QueryError: the collection does not exist, or no upload can have this name.
    """
    from sourcebook.admin.uploads import list_versions

    with knowledge.database.connection() as connection:
        return list_versions(connection, collection, name)


def permit_upload(
    knowledge: Opened,
    collection: str,
    name: str,
    allowed: Sequence[str] | str | None,
    *,
    denied: Sequence[str] | str = (),
    actor: str | None = None,
) -> Upload:
    """Change who sees an upload, with its attachments and copies, at once; return it.

    Args:
        collection: name of the collection.
        name: of the upload.
        allowed: principals who see the document, or one; None for those whom the collection names.
        denied: principals who do not see it, whatever else they are; given with `allowed`.
        actor: who changes it.

    Raises:
        QueryError: the collection or the upload does not exist, or a principal is none.
    """
    from sourcebook.admin.audit import account
    from sourcebook.admin.uploads import permit_upload, upload_readers

    readers = upload_readers(allowed, denied)
    with knowledge.database.connection() as connection:
        return permit_upload(connection, collection, name, readers, actor=actor or account())


def remove_upload(knowledge: Opened, collection: str, name: str, *, actor: str | None = None) -> Upload:
    """Remove an upload; the next ingest removes its document, and retention deletes its bytes.

    Args:
        collection: name of the collection.
        name: of the upload.
        actor: who removes it.

    Raises:
        QueryError: the collection or the upload does not exist.
    """
    from sourcebook.admin.audit import account
    from sourcebook.admin.uploads import remove_upload

    with knowledge.database.connection() as connection:
        return remove_upload(connection, collection, name, actor=actor or account())

"""Routes for uploads: files that callers send, listed and removed by name."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final
from urllib.parse import unquote_to_bytes

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response

from sourcebook.admin.titles import LONGEST_TITLE
from sourcebook.admin.uploads import UploadReaders, upload_readers
from sourcebook.contract.uploads import Upload
from sourcebook.contract.work import WorkRequest
from sourcebook.errors import (
    AccessError,
    EmptyUploadError,
    UnknownUploadError,
    UploadError,
    UploadNameError,
    UploadSpaceError,
)
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.model.cursors import cursor_of, place_of
from sourcebook.model.upload_names import upload_name, upload_tags
from sourcebook.operations.uploads import add_uploads, upload_store
from sourcebook.operations.work import check_waiting_work
from sourcebook.server.access import Administrator, Knowledge, Reader, Writer
from sourcebook.server.authorship import shown_authors
from sourcebook.server.problems import ForbiddenError, failures, problem
from sourcebook.server.request_models import Sent
from sourcebook.server.routes.collections import Cursor, Name, Named
from sourcebook.server.upload_bodies import FIELD, RefusedBodyError, UploadBody, receive_bytes, receive_files
from sourcebook.server.visibility import NotFoundError, seen_collections

router = APIRouter(tags=["uploads"])

_log = logging.getLogger(__name__)
_NO_UPLOAD: Final = "there is no such upload"
_Collection = Annotated[str, Query(description="Name of the collection.", examples=["handbook"])]
_UploadName = Annotated[str, Path(description="Name of the upload.", examples=["policies/leave.md"])]
_Title = Annotated[
    str | None,
    Query(max_length=LONGEST_TITLE, description="Title in place of its own, of one file; an empty one takes it back."),
]
_Tags = Annotated[
    list[str] | None, Query(description="Tags of the documents; without any, those of the version before.")
]
_Allowed = Annotated[
    list[str] | None,
    Query(
        description="Principals who see the documents, such as `group:board`; without any, those of the version "
        "before, or else of the collection. For a name that was uploaded before, others need the scope `admin`.",
    ),
]
_Denied = Annotated[
    list[str] | None, Query(description="Principals who do not see them, whatever else they are; beside `allowed`.")
]
_REFUSALS: Final = failures(415, 507)
_FORM: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": [FIELD],
                    "properties": {
                        FIELD: {
                            "type": "array",
                            "minItems": 1,
                            "items": {"type": "string", "format": "binary"},
                            "contains": {"type": "string", "minLength": 1},
                        }
                    },
                }
            }
        },
    }
}
_BYTES: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary", "minLength": 1}}},
    }
}


class RefusedUpload(BaseModel):
    """A file that was not taken."""

    name: str
    reason: str


class UploadAnswer(BaseModel):
    """Uploads that were stored or removed, and the request for the work that follows."""

    uploads: list[Upload]
    refused: list[RefusedUpload] = Field(
        default=[], description="Files of the body that were not taken, with the reason."
    )
    work: WorkRequest = Field(description="It makes documents of them, or removes these.")


class UploadPage(BaseModel):
    """A page of uploads."""

    uploads: list[Upload]
    next_cursor: str | None = Field(description="The `cursor` of the next page; null on the last one.")


class UploadVersions(BaseModel):
    """The versions of one upload."""

    versions: list[Upload]


class UploadPatch(Sent):
    """Other principals for an upload."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"allowed": ["group:board"]}]})

    allowed: list[str] | None = Field(
        min_length=1, description="Principals such as `group:board`; null: those whom the collection names."
    )
    denied: list[str] = Field(default=[], description="Principals who do not see it; beside `allowed`.")


@router.post(
    "/documents",
    status_code=202,
    response_model=UploadAnswer,
    responses=_REFUSALS,
    openapi_extra=_FORM,
    operation_id="upload_documents",
)
async def upload_documents(
    request: Request,
    knowledge: Knowledge,
    grant: Writer,
    collection: _Collection,
    tag: _Tags = None,
    title: _Title = None,
    allowed: _Allowed = None,
    denied: _Denied = None,
) -> Response:
    """Store files, and ask for documents to be made of them; their file names are their names.

    A file that is empty, or whose name is none, is in `refused`, and the others are stored. Whether a document could be
    made of each is said by `unread` of the work, once it has ended.
    """
    return await store_uploads(
        knowledge,
        grant,
        collection,
        tag or [],
        lambda body: receive_files(request, body),
        title,
        upload_readers(allowed, denied),
    )


@router.put(
    "/uploads/{collection}/{name:path}",
    status_code=202,
    response_model=UploadAnswer,
    responses=_REFUSALS,
    openapi_extra=_BYTES,
    operation_id="put_upload",
)
async def put_upload(
    request: Request,
    knowledge: Knowledge,
    grant: Writer,
    collection: Name,
    name: _UploadName,
    tag: _Tags = None,
    title: _Title = None,
    allowed: _Allowed = None,
    denied: _Denied = None,
) -> Response:
    """Store the body, whatever its type, under a name, and ask for a document to be made of it."""
    if not _is_unicode(request.scope["raw_path"]):
        raise UploadNameError("the name of an upload is encoded as UTF-8")
    checked = upload_name(name)
    return await store_uploads(
        knowledge,
        grant,
        collection,
        tag or [],
        lambda body: receive_bytes(request, body, checked),
        title,
        upload_readers(allowed, denied),
    )


@router.get("/uploads", operation_id="list_uploads")
def list_uploads(
    knowledge: Knowledge,
    grant: Reader,
    names: Named = None,
    limit: Annotated[int, Query(ge=1, le=999)] = 50,
    cursor: Cursor = None,
) -> UploadPage:
    """Return the present version of each upload, by collection and name."""
    found = knowledge.uploads(
        seen_collections(knowledge, grant, names),
        limit=limit + 1,
        after=None if cursor is None else place_of(cursor),
    )
    last = found[limit - 1] if len(found) > limit else None
    return UploadPage(
        uploads=shown_authors(knowledge, grant, found[:limit]),
        next_cursor=None if last is None else cursor_of(last.collection, last.name),
    )


@router.get("/uploads/{collection}/{name:path}", operation_id="get_upload")
def get_upload(knowledge: Knowledge, grant: Reader, collection: Name, name: _UploadName) -> UploadVersions:
    """Return the versions of an upload that are kept, the newest first, removed ones included."""
    seen_collections(knowledge, grant, [collection])
    versions = knowledge.upload_versions(collection, name)
    if not versions:
        raise NotFoundError(_NO_UPLOAD)
    return UploadVersions(versions=shown_authors(knowledge, grant, versions))


@router.patch("/uploads/{collection}/{name:path}", operation_id="permit_upload")
def permit_upload(
    asked: UploadPatch, knowledge: Knowledge, grant: Administrator, collection: Name, name: _UploadName
) -> Upload:
    """Change who sees an upload, with its attachments and copies, at once; needs the scope `admin`."""
    seen_collections(knowledge, grant, [collection])
    try:
        return knowledge.permit_upload(collection, name, asked.allowed, denied=asked.denied, actor=grant.actor)
    except UnknownUploadError:
        raise NotFoundError(_NO_UPLOAD) from None


@router.delete("/uploads", status_code=202, operation_id="remove_upload")
def remove_upload(
    knowledge: Knowledge,
    grant: Writer,
    collection: _Collection,
    name: Annotated[str, Query(description="Name of the upload.", examples=["policies/leave.md"])],
) -> UploadAnswer:
    """Remove an upload, and ask for its document to be removed."""
    seen_collections(knowledge, grant, [collection])
    try:
        removed = knowledge.remove_upload(collection, name, actor=grant.actor)
    except UnknownUploadError:
        raise NotFoundError(_NO_UPLOAD) from None
    return _answer(knowledge, grant, collection, [removed])


async def store_uploads(
    knowledge: KnowledgeBase,
    grant: Grant,
    collection: str,
    tags: list[str],
    receive: Callable[[UploadBody], Awaitable[None]],
    title: str | None = None,
    readers: UploadReaders | None = None,
) -> Response:
    """Receive a body and store it; whatever is wrong before the body is read is said before it is.

    Args:
        knowledge: the knowledge base.
        grant: what the caller may do.
        collection: name of the collection.
        tags: tags of the documents; those of the version before where empty.
        receive: writes the body to the store.
        title: of the document of the one file; see `upload`.
        readers: who sees the documents, in place of those that the body names; see `upload`.
    """
    await run_in_threadpool(seen_collections, knowledge, grant, [collection])
    await run_in_threadpool(check_waiting_work, knowledge, grant.actor)
    checked = upload_tags(tags)
    try:
        store = await run_in_threadpool(upload_store, knowledge)
        body = UploadBody(store, checked)
        try:
            await receive(body)
            if title is not None and len(body.uploads) > 1:
                return problem(400, "a title is for one file: send them one by one")
            body.uploads = [replace(each, title=title, readers=readers or body.readers) for each in body.uploads]
            found = await run_in_threadpool(_keep, knowledge, grant, collection, body)
        finally:
            await run_in_threadpool(body.close)
    except ClientDisconnect:
        return problem(400, "the body ends before its length")  # which nobody reads
    except RefusedBodyError as error:
        return problem(error.status, str(error))
    except EmptyUploadError:
        return problem(422, "a file has no bytes")
    except UploadNameError as error:
        return problem(422, str(error))
    except UploadSpaceError as error:
        _log.error("an upload failed: %s", error)
        return problem(507, "there is no space for the upload on the server; nothing of it was kept")
    except (UploadError, OSError) as error:
        _log.error("an upload failed: %s", error)
        return problem(503, "uploads cannot be stored now; the server's log says why")
    return JSONResponse(found.model_dump(mode="json"), 202)


def _is_unicode(raw_path: bytes) -> bool:
    """Return whether a path is UTF-8: what is not arrives as U+FFFD, and two names would be one."""
    try:
        unquote_to_bytes(raw_path).decode()
    except UnicodeDecodeError:
        return False
    return True


def _keep(knowledge: KnowledgeBase, grant: Grant, collection: str, body: UploadBody) -> UploadAnswer:
    refused = [RefusedUpload(name=name, reason=reason.lstrip(": ")) for name, reason in body.refused]
    try:
        uploads = add_uploads(knowledge, collection, body.uploads, actor=grant.actor, may_open=grant.allows("admin"))
    except AccessError as error:
        raise ForbiddenError(str(error)) from None
    return _answer(knowledge, grant, collection, uploads, refused)


def _answer(
    knowledge: KnowledgeBase,
    grant: Grant,
    collection: str,
    uploads: list[Upload],
    refused: Sequence[RefusedUpload] = (),
) -> UploadAnswer:
    work = knowledge.request_work(
        collection, documents=[upload.uri for upload in uploads], kinds=["uploads"], actor=grant.actor
    )
    return UploadAnswer(uploads=shown_authors(knowledge, grant, uploads), refused=list(refused), work=work)

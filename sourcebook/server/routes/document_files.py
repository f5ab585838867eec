"""Routes for the files of documents: originals, pictures of pages, exports."""

import hashlib
from tempfile import SpooledTemporaryFile
from typing import Annotated, Any, Final
from zipfile import ZIP_DEFLATED, ZipFile

from fastapi import APIRouter, Header, Path, Query
from starlette.responses import Response

from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.operations.overviews import document_markdown
from sourcebook.server.access import Knowledge, Reader, Unredacted
from sourcebook.server.document_types import DocumentNumber, ExportRequest, PagePlaces
from sourcebook.server.downloads import file_answer, file_headers, stream_answer
from sourcebook.server.problems import bytes_answer, failures
from sourcebook.server.routes.documents import names_tag
from sourcebook.server.visibility import check_unredacted, existing_document, visible_number

router = APIRouter(prefix="/documents", tags=["documents"])

_IN_MEMORY: Final = 16 << 20
"""Bytes of an archive that are kept in memory; a larger one is a temporary file."""
_GONE = failures(410)
_UNCHANGED: dict[int | str, dict[str, Any]] = {304: {"description": "It is the one with the `ETag` that was sent."}}
PageNumber = Annotated[int, Path(ge=1, le=1_000_000, description="Counted from 1.", examples=[1])]
MarkedPassage = Annotated[
    int | None, Query(ge=0, le=1 << 40, description="Place of a passage within the document, counted from 0.")
]
IfNoneMatch = Annotated[str | None, Header(description="The `ETag` of an earlier answer.")]


@router.get(
    "/{document:number}/original",
    operation_id="get_original",
    response_class=Response,
    responses={
        200: bytes_answer("*/*", "The bytes."),
        206: bytes_answer("*/*", "A part of the bytes."),
        416: {"description": "The original has no such part."},
        **_UNCHANGED,
        **_GONE,
    },
)
def get_original(
    document: DocumentNumber,
    knowledge: Knowledge,
    grant: Reader,
    unredacted: Unredacted = False,
    inline: Annotated[bool, Query(description="Whether a browser shows it, where that is safe.")] = False,
    range_: Annotated[str | None, Header(alias="range", description="One part, such as `bytes=0-999`.")] = None,
    if_range: Annotated[str | None, Header(description="The `ETag` that the part is of.")] = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return the bytes that a document was made from, read again from its source and compared with the ledger.

    410 where the source has other bytes by now, or none, or where only the text of a web page was kept.
    """
    number = visible_number(knowledge, grant, document, unredacted=unredacted)
    original = knowledge.original(number, unredacted=unredacted)
    tag = f'"{original.sha256}"'
    if names_tag(if_none_match, tag):
        original.stream.close()
        return Response(status_code=304, headers={"ETag": tag})
    return file_answer(original, inline=inline, wanted=range_, if_range=if_range)


@router.get(
    "/{document:number}/pages/{page:number}.png",
    operation_id="get_page_image",
    response_class=Response,
    responses={200: bytes_answer("image/png", "The picture."), **_UNCHANGED, **_GONE},
)
def get_page_image(
    document: DocumentNumber,
    page: PageNumber,
    knowledge: Knowledge,
    grant: Reader,
    scale: Annotated[float, Query(gt=0, le=10, description="Pixels a point (1/72 inch).")] = 1.5,
    passage: MarkedPassage = None,
    unredacted: Unredacted = False,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return a page of a PDF as a picture of at most 2,000 pixels a side, with a passage marked."""
    number = visible_number(knowledge, grant, document, unredacted=unredacted)
    picture = knowledge.page_image(number, page, scale=scale, passage=passage, unredacted=unredacted)
    tag = f'"{hashlib.sha256(picture.png).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "private, max-age=300", "X-Content-Type-Options": "nosniff"}
    if names_tag(if_none_match, tag):
        return Response(status_code=304, headers=headers)
    return Response(picture.png, media_type="image/png", headers=headers)


@router.get("/{document:number}/pages/{page:number}", operation_id="get_page", responses=_GONE)
def get_page(
    document: DocumentNumber,
    page: PageNumber,
    knowledge: Knowledge,
    grant: Reader,
    passage: MarkedPassage = None,
    unredacted: Unredacted = False,
) -> PagePlaces:
    """Return the size of a page of a PDF, and where a passage stands on it."""
    number = visible_number(knowledge, grant, document, unredacted=unredacted)
    found = knowledge.page_image(number, page, scale=None, passage=passage, unredacted=unredacted)
    return PagePlaces(page=found.page, pages=found.pages, width=found.width, height=found.height, boxes=found.boxes)


@router.get(
    "/{document:number}/export",
    operation_id="export_document",
    response_class=Response,
    responses={200: {"content": {"text/markdown": {}}, "description": "Markdown with front matter."}},
)
def export_document(
    document: DocumentNumber, knowledge: Knowledge, grant: Reader, unredacted: Unredacted = False
) -> Response:
    """Return a document as Markdown with everything that is known of it as front matter."""
    _, name, text = _exported(knowledge, grant, document, unredacted=unredacted)
    return Response(text, media_type="text/markdown; charset=utf-8", headers=file_headers(name))


@router.post(
    "/export",
    operation_id="export_documents",
    response_class=Response,
    responses={200: bytes_answer("application/zip", "A ZIP archive.")},
)
def export_documents(asked: ExportRequest, knowledge: Knowledge, grant: Reader) -> Response:
    """Return documents as Markdown with front matter in a ZIP archive, in a folder for each collection."""
    archive = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - the answer closes it
    try:
        with ZipFile(archive, "w", ZIP_DEFLATED) as files:
            for document in dict.fromkeys(asked.documents):
                folder, name, text = _exported(knowledge, grant, document, unredacted=asked.unredacted)
                files.writestr(f"{folder}/{name}", text)
    except BaseException:
        archive.close()
        raise
    return stream_answer(archive, archive.tell(), media_type="application/zip", headers=file_headers("documents.zip"))


def _exported(knowledge: KnowledgeBase, grant: Grant, document: int, *, unredacted: bool) -> tuple[str, str, bytes]:
    """Return the name of the folder of a document's collection, the name of its file, and the file."""
    from sourcebook.transfer.file_names import safe_name  # not with the server: the others read sources

    check_unredacted(grant, unredacted)
    item = existing_document(knowledge, grant, document, reading="export").item
    is_own = item.taken_from is None or grant.sees(item.taken_from)
    name, text = document_markdown(knowledge, item.document_id or 0, with_source=is_own, unredacted=unredacted)
    return safe_name(item.collection), name, text.encode(errors="replace")

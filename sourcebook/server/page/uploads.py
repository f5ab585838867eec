"""The page that takes files into a collection."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from sourcebook.admin.uploads import upload_readers
from sourcebook.model.upload_names import upload_tags
from sourcebook.server.body_limit import upload_limit
from sourcebook.server.page.audience_field import principals_in
from sourcebook.server.page.errors import in_visitors_language
from sourcebook.server.page.forms import Writing, check_origin, check_token, redirect_to
from sourcebook.server.page.rendering import render
from sourcebook.server.page.visitors import Knowledge
from sourcebook.server.problems import MEDIA_TYPE
from sourcebook.server.routes.uploads import store_uploads
from sourcebook.server.upload_bodies import FormStart, UploadBody, receive_files
from sourcebook.server.visibility import known_collections, seen_collections

router = APIRouter(include_in_schema=False)
_FIELDS = frozenset({"token", "tag", "allowed", "denied"})
"""Fields of the form that come before its files."""


@router.get("/upload")
def choose_collection(request: Request, knowledge: Knowledge, visitor: Writing) -> Response:
    """Show the collections that files may be added to; the form itself where there is one."""
    names = known_collections(knowledge, visitor)
    if len(names) == 1:
        return redirect_to(f"/collections/{names[0]}/upload")
    return render(request, "upload_to.html", collections=names)


@router.get("/collections/{name}/upload")
def show_form(name: str, request: Request, knowledge: Knowledge, visitor: Writing) -> Response:
    """Show the form that takes files."""
    seen_collections(knowledge, visitor, [name])
    return _form(request, name)


@router.post("/collections/{name}/upload")
async def receive(name: str, request: Request, knowledge: Knowledge, visitor: Writing) -> Response:
    """Store the files, and lead to the work that makes documents of them; say beside the form which were not taken."""
    check_origin(request)  # before a byte is written

    def check(body: UploadBody, fields: dict[str, str]) -> None:
        check_token(request, fields)
        body.tags = upload_tags(tag for tag in fields.get("tag", "").split(",") if tag.strip())
        body.readers = upload_readers(
            principals_in(fields.get("allowed", "")) or None, principals_in(fields.get("denied", ""))
        )

    async def receive_form(body: UploadBody) -> None:
        await receive_files(request, body, FormStart(_FIELDS, lambda fields: check(body, fields)))

    answer = await store_uploads(knowledge, visitor, name, [], receive_form)
    if MEDIA_TYPE in request.headers.get("accept", ""):
        return in_visitors_language(answer)
    told = json.loads(bytes(answer.body))
    if "work" in told and not told["refused"]:
        return redirect_to(f"/work/{told['work']['id']}")
    return await run_in_threadpool(_form, request, name, answer.status_code, told)


def _form(request: Request, name: str, status: int = 200, told: Mapping[str, Any] = MappingProxyType({})) -> Response:
    return render(request, "upload.html", status, name=name, told=told, most=upload_limit())

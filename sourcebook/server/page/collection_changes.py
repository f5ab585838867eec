"""Forms that make and delete collections, and add and remove their sites."""

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.responses import Response

from sourcebook.errors import ConflictError, SettingsError
from sourcebook.server.page.collections import shown_collections
from sourcebook.server.page.forms import AdministratorForm, WriterForm, redirect_to
from sourcebook.server.page.rendering import web_address
from sourcebook.server.page.translation import gettext
from sourcebook.server.page.visitors import Knowledge
from sourcebook.server.routes import collection_changes
from sourcebook.server.routes.plain import answer_for

router = APIRouter(include_in_schema=False)


@router.post("/collections")
def make_collection(request: Request, knowledge: Knowledge, form: AdministratorForm) -> Response:
    """Make a collection, of a site or for uploads, and lead to it; or show the form again with what is wrong."""
    name, url, description = (form.one(field).strip() for field in ("name", "url", "description"))
    try:
        settings: dict[str, Any] = {"sites": [{"url": _checked(url)}]} if url else {}
        settings |= {"description": description} if description else {}
        collection_changes.made_collection(name, settings, knowledge, form.visitor)
    except (SettingsError, ConflictError) as error:
        status = 409 if isinstance(error, ConflictError) else 400
        written = {"name": name, "url": url, "description": description}
        return shown_collections(request, knowledge, form.visitor, status, problem=str(error), **written)
    if url:
        work = knowledge.request_work(name, idempotency_key=form.once, actor=form.visitor.actor)
        return redirect_to(f"/work/{work.id}")
    return redirect_to(f"/collections/{quote(name)}")


@router.post("/collections/{name}/delete")
def delete_collection(name: str, knowledge: Knowledge, form: AdministratorForm) -> Response:
    """Take a collection out of search and ingest, and lead to the others."""
    if form.one("name").strip() != name:
        raise SettingsError(gettext("write the name of the collection to delete it"))
    answer_for(form.visitor, knowledge, "delete_collection", name=name)
    return redirect_to("/collections")


@router.post("/collections/{name}/rename")
def rename_collection(name: str, knowledge: Knowledge, form: AdministratorForm) -> Response:
    """Give a collection another name, and lead to it."""
    new_name = form.one("name").strip()
    collection_changes.rename_as_asked(name, new_name, knowledge, form.visitor)
    return redirect_to(f"/collections/{quote(new_name)}")


@router.post("/collections/{name}/sites")
def add_site(name: str, knowledge: Knowledge, form: WriterForm) -> Response:
    """Add a site to a collection, and lead to the work that reads it."""
    source = collection_changes.NewSource(kind="site", source={"url": _checked(form.one("url").strip())})
    collection_changes.add_source(name, source, knowledge, form.visitor)
    work = knowledge.request_work(name, idempotency_key=form.once, actor=form.visitor.actor)
    return redirect_to(f"/work/{work.id}")


@router.post("/collections/{name}/sources/remove")
def remove_source(name: str, knowledge: Knowledge, form: WriterForm) -> Response:
    """Remove a source from a collection, and lead back to it; the next ingest removes its documents."""
    collection_changes.remove_source(name, form.one("location"), knowledge, form.visitor)
    return redirect_to(f"/collections/{quote(name)}")


def _checked(url: str) -> str:
    """Return the address of a site.

    Raises:
        SettingsError: it is none.
    """
    if web_address(url) is None:
        raise SettingsError(gettext("the address of a site begins with http:// or https://"))
    return url

"""Pages that make a collection and change its settings: a form, what saving would do, and errors beside the fields."""

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.responses import Response

from sourcebook.config.collection import CollectionSettings
from sourcebook.config.field_types import written_duration
from sourcebook.contract.collections import CollectionDeclaration
from sourcebook.errors import ChangedSettingsError, ConflictError, SettingsError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.operations.collections import embedding_models, plan_settings
from sourcebook.server.page import settings_form
from sourcebook.server.page.forms import Administering, AdministratorForm, Form, redirect_to
from sourcebook.server.page.rendering import render
from sourcebook.server.page.settings_form import Written, form_values, problems_by_field, written_settings
from sourcebook.server.page.translation import gettext
from sourcebook.server.page.visitors import Knowledge, Visitor
from sourcebook.server.problems import ForbiddenError
from sourcebook.server.routes import collection_changes
from sourcebook.server.visibility import known_collections, seen_collections, shown_settings

router = APIRouter(include_in_schema=False)
_KINDS: Final = {"site": "sites", "folder": "files", "repository": "repositories"}
"""Kinds of sources that come first in the form, by the words of its address."""


@router.get("/new-collection")
def show_new(request: Request, knowledge: Knowledge, visitor: Administering, kind: str = "") -> Response:
    """Show the form that makes a collection."""
    return _form(request, knowledge, visitor, None, {}, open_kind=kind)


@router.get("/collections/{name}/settings")
def show_settings(name: str, request: Request, knowledge: Knowledge, visitor: Visitor) -> Response:
    """Show the settings of a collection: a form where it may be changed here, else what to write into the file."""
    declared = _declared(knowledge, visitor, name)
    if declared.declared_in == "api" and visitor.allows("admin"):
        return _form(request, knowledge, visitor, name, declared.settings)
    text = settings_form.as_yaml({"collections": {name: _without_defaults(declared.settings)}})
    return render(request, "collection_yaml.html", name=name, text=text, is_own=declared.declared_in == "api")


@router.post("/new-collection")
def make(request: Request, knowledge: Knowledge, form: AdministratorForm) -> Response:
    """Make a collection, or show what making it would do."""
    return _sent(request, knowledge, form, None, {})


@router.post("/collections/{name}/settings")
def change(name: str, request: Request, knowledge: Knowledge, form: AdministratorForm) -> Response:
    """Save the settings of a collection, or show what saving them would do."""
    declared = _declared(knowledge, form.visitor, name)
    if declared.declared_in != "api":
        raise ConflictError(gettext("sourcebook.yaml declares this collection: change it in that file"))
    return _sent(request, knowledge, form, name, declared.settings)


def _sent(
    request: Request, knowledge: KnowledgeBase, form: Form, name: str | None, before: Mapping[str, Any]
) -> Response:
    """Answer a form that was sent: with its preview, with what is wrong, or, when all is saved, with the collection."""
    fields = {key: values[0] for key, values in form.fields.items()}
    is_new, rebuild, act = name is None, "rebuild" in fields, form.one("act")
    wanted = form.one("name").strip() if name is None else name
    written = Written({})
    problems: tuple[str, ...] = ()
    planned, status = None, 200
    try:
        _check_unchanged(form, before, is_new)
        written = written_settings(fields, before)
        if is_new and not form.visitor.sees(wanted):
            raise ForbiddenError(gettext("the key is for other collections alone"))
        collection_changes.check_givers(form.visitor, written.settings)
        if act == "preview":
            planned = plan_settings(knowledge, wanted, written.settings, is_new=is_new, rebuild=rebuild)
        elif act == "save":
            return _saved(knowledge, form, wanted, written, before, is_new=is_new, rebuild=rebuild)
    except SettingsError as error:
        problems, status = error.problems, 400
    except ChangedSettingsError as error:
        return _form(
            request, knowledge, form.visitor, name, _present(knowledge, name), 409, problems={"": [str(error)]}
        )
    except ConflictError as error:
        problems, status = (str(error),), 409
    return _form(
        request,
        knowledge,
        form.visitor,
        name,
        before,
        status,
        fields=fields,
        problems=problems_by_field(problems, written.rows),
        planned=planned,
    )


def _saved(
    knowledge: KnowledgeBase,
    form: Form,
    name: str,
    written: Written,
    before: Mapping[str, Any],
    *,
    is_new: bool,
    rebuild: bool,
) -> Response:
    """Save settings, ask for the work that follows, and lead to it; to the collection where it has no source."""
    from sourcebook.admin.planning.changes import patch_between

    actor = form.visitor.actor
    if is_new:
        knowledge.create_collection(name, written.settings, actor=actor)
    else:
        patch = patch_between(before, written.settings)
        knowledge.change_collection(name, patch, rebuild=rebuild, expected=dict(before), actor=actor)
    if not any(kind in written.settings for kind in settings_form.SOURCES) and is_new:
        return redirect_to(f"/collections/{quote(name)}/upload")
    work = knowledge.request_work(name, idempotency_key=form.once, actor=actor)
    return redirect_to(f"/work/{work.id}")


def _form(
    request: Request,
    knowledge: KnowledgeBase,
    visitor: Grant,
    name: str | None,
    before: Mapping[str, Any],
    status: int = 200,
    *,
    fields: Mapping[str, str] | None = None,
    problems: Mapping[str, list[str]] | None = None,
    planned: Any = None,
    open_kind: str = "",
) -> Response:
    values, counts = form_values(before)
    values = values if fields is None else dict(fields)
    hidden = [kind for kind in settings_form.SOURCES if kind not in counts]
    return render(
        request,
        "collection_form.html",
        status,
        name=name,
        values=values,
        rows={
            kind: min(max(count, _rows_sent(kind, values)), settings_form.MOST_ROWS) + 1
            for kind, count in counts.items()
        },
        hidden=hidden,
        sources=dict(sorted(settings_form.SOURCES.items(), key=lambda each: each[0] != _KINDS.get(open_kind))),
        titles=settings_form.TITLES,
        single=settings_form.SINGLE,
        models=embedding_models(knowledge),
        others=[each for each in known_collections(knowledge, visitor) if each != name],
        problems=problems or {},
        wrong_rows={".".join(each.split(".")[:2]) for each in problems or {}},
        planned=planned,
        mark=_mark(before),
        has_generation=name is not None and bool(knowledge.generations(name)),
    )


def _check_unchanged(form: Form, before: Mapping[str, Any], is_new: bool) -> None:
    """Raise a ConflictError where the settings are no longer those that the form was made from."""
    if not is_new and form.one("of") != _mark(before):
        raise ChangedSettingsError(
            gettext("somebody has changed the settings meanwhile: make your changes to these again")
        )


def _present(knowledge: KnowledgeBase, name: str | None) -> Mapping[str, Any]:
    """Return the settings of a collection as they are now; none of one that is not there yet."""
    return {} if name is None else knowledge.collection_settings(name).settings


def _rows_sent(kind: str, fields: Mapping[str, str]) -> int:
    """Return the number of rows that fields of a kind of sources need."""
    numbers = [int(found[1]) for each in fields if (found := re.match(rf"{kind}\.(\d{{1,3}})\.", each))]
    return min(max(numbers, default=-1) + 1, settings_form.MOST_ROWS)


def _declared(knowledge: KnowledgeBase, visitor: Grant, name: str) -> CollectionDeclaration:
    """Return the settings of a collection of the visitor's, of which none names a collection that it does not see."""
    seen_collections(knowledge, visitor, [name])
    declared = knowledge.collection_settings(name)
    if shown_settings(visitor, declared.settings) != declared.settings:
        raise ForbiddenError(gettext("the collection takes documents of one that the key does not see"))
    return declared


def _mark(settings: Mapping[str, Any]) -> str:
    """Return a text that differs where settings do: a form was made from these."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()[:32]


def _without_defaults(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings without those that have their default; all of them where secrets are left out of them."""
    try:
        read = CollectionSettings.model_validate(settings)
    except ValueError:
        return settings
    written = read.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return dict(_with_durations(written, read.model_dump(by_alias=True, exclude_defaults=True)))


def _with_durations(written: Any, values: Any) -> Any:
    """Return settings as JSON has them, with durations as they are written: `30d` in place of 2592000.0."""
    if isinstance(values, timedelta):
        return written_duration(values)
    if isinstance(written, dict) and isinstance(values, dict):
        return {key: _with_durations(value, values.get(key)) for key, value in written.items()}
    if isinstance(written, list) and isinstance(values, list | tuple):
        return [_with_durations(*pair) for pair in zip(written, values, strict=True)]
    return written

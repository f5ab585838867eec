"""HTML from templates, in which every value is escaped."""

import hashlib
import os
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlencode, urlsplit

from fastapi import Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from sourcebook.contract.search_results import printable
from sourcebook.model.access import SCOPES, Grant
from sourcebook.model.media_types import endings
from sourcebook.model.upload_names import SCHEME
from sourcebook.server.page.script_texts import STATIC, words_of_scripts
from sourcebook.server.page.sentences import said, said_left_out
from sourcebook.server.page.translation import LANGUAGES, gettext, language, ngettext, number, pgettext
from sourcebook.server.page.visitors import FORM_COOKIE, form_token, keep

_FOLDER: Final = Path(__file__).parent
_LINKED: Final = frozenset({"http", "https"})
"""Schemes of the addresses that become links."""
_FAILED: Final = 400
"""HTTP status from which on a page does not repeat its address, which may have the code of a sign-in."""


def render(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """Return a page.

    Args:
        request: the request that it answers.
        template: name of the template.
        status: the HTTP status.
        values: what the template shows.
    """
    here = _address_of(request) if status < _FAILED else "/"
    text, token = _written(request, template, {**values, "here": here})
    # The content depends on the key: no cache keeps it, not even that of the browser after signing out.
    response = HTMLResponse(text, status, {"Cache-Control": "no-store", "Vary": "Cookie, HX-Request, Accept-Language"})
    if token is not None and request.cookies.get(FORM_COOKIE) != token:
        keep(response, request, FORM_COOKIE, token)
    return response


def part_of_page(request: Request, template: str, **values: Any) -> str:
    """Return a part of a page, for the visitor whom a request comes from."""
    return _written(request, template, values)[0]


def _written(request: Request, template: str, values: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return what a template writes, and the token of its forms; None where the visitor may send none."""
    signed_in_as = getattr(request.state, "signed_in_as", None)
    visitor: Grant | None = getattr(request.state, "visitor", None)
    may = {scope: visitor is not None and visitor.allows(scope) for scope in SCOPES}
    token = form_token(request) if signed_in_as is not None or may["write"] or template == "sign_in.html" else None
    about = {"path": request.url.path, "signed_in_as": signed_in_as, "may": may, "token": token}
    about |= {"language": language(), "languages": LANGUAGES}
    about["words_of_scripts"] = words_of_scripts()
    about["has_principals"] = visitor is not None and visitor.asker.principals is not None
    return _templates().get_template(template).render(**about, **values), token


def _address_of(request: Request) -> str:
    """Return the address that shows the page of a request again: the first page where a form led to it."""
    query = f"?{request.url.query}" if request.url.query else ""
    return f"{request.url.path}{query}" if request.method == "GET" else "/"


def is_partial(request: Request) -> bool:
    """Return whether a script asks for a part of a page, to replace it there."""
    return request.headers.get("hx-request") == "true" and "hx-history-restore-request" not in request.headers


def address(path: str, parameters: Mapping[str, str | Sequence[str] | None], **changed: Any) -> str:
    """Return a path with a query; parameters that are empty or None are left out.

    Args:
        path: the path.
        parameters: those of the page.
        changed: parameters that differ; None for one that is left out.
    """
    found = {**parameters, **changed}
    kept = {name: value for name, value in found.items() if value not in ("", None, [], ())}
    query = urlencode(kept, doseq=True, encoding="utf-8", errors="replace")
    return f"{path}?{query}" if query else path


def web_address(text: str | None) -> str | None:
    """Return an address that may become a link: of http or https alone."""
    try:
        parts = urlsplit(text or "")
    except ValueError:
        return None
    is_linked = parts.scheme.lower() in _LINKED and bool(parts.netloc)
    return text if is_linked and text is not None and text.isprintable() else None


def shown_uri(uri: str) -> str:
    """Return an address as people read it: a file by its path, without escapes."""
    return printable(unquote(uri.removeprefix("file://")) if uri.startswith("file://") else uri)


def short_uri(uri: str) -> str:
    """Return the end of a file's address with the folder that it is in, an upload's name, another address whole."""
    if uri.startswith(SCHEME):
        return printable(unquote(uri.removeprefix(SCHEME).partition("/")[2]))
    shown = shown_uri(uri)
    return "/".join(shown.rsplit("/", 2)[-2:]) if uri.startswith("file://") else shown


def short_type(media_type: str) -> str:
    """Return the usual ending of a media type; the type itself where it has none."""
    known = endings().get(media_type)
    return known[0] if known else media_type


def moment(time: datetime | None) -> str:
    """Return a time in UTC, to the minute, which a script shows as the visitor's own."""
    if time is None:
        return gettext("never")
    present = time.astimezone(UTC)
    return Markup('<time datetime="{0:%Y-%m-%dT%H:%MZ}" title="{1}">{1}</time>').format(present, utc(time))


def utc(time: datetime) -> str:
    """Return a time in UTC, to the minute, for an attribute."""
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def day(time: datetime) -> str:
    """Return the day of a time, in UTC."""
    return f"{time.astimezone(UTC):%Y-%m-%d}"


def duration(seconds: float) -> str:
    """Return a time span as people read it, in its two largest units."""
    whole = max(round(seconds), 0)
    parts = [(whole // 86_400, "d"), (whole // 3_600 % 24, "h"), (whole // 60 % 60, "min"), (whole % 60, "s")]
    parts = [(number, pgettext("unit", unit)) for number, unit in parts]
    first = next((at for at, (number, _) in enumerate(parts) if number), len(parts) - 1)
    return " ".join(f"{number} {unit}" for number, unit in parts[first : first + 2] if number) or f"0 {parts[-1][1]}"


def new_once() -> str:
    """Return a text by which a form that is sent twice is recognised."""
    return secrets.token_urlsafe(12)


@cache
def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    made.install_gettext_callables(  # type: ignore[attr-defined]  # the extension adds it
        gettext, ngettext, newstyle=True, pgettext=pgettext
    )
    filters = (
        printable,
        web_address,
        shown_uri,
        short_uri,
        short_type,
        moment,
        utc,
        day,
        duration,
        number,
        said,
        said_left_out,
    )
    made.filters |= {function.__name__: function for function in filters}
    made.globals |= {"address": address, "static": _static_address, "new_once": new_once}
    return made


@cache
def _static_address(name: str) -> str:
    """Return the address of a static file, which changes with its content."""
    return f"/static/{name}?v={hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]}"


class KeptFiles(StaticFiles):
    """Static files, which browsers keep: an address names one content for ever."""

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """Return a file."""
        response = super().file_response(full_path, stat_result, scope, status_code)
        if b"v=" in scope["query_string"]:
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response

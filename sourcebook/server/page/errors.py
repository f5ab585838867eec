"""Errors as pages where a person asked for a page, and as problem details everywhere else."""

import json
from collections.abc import Awaitable, Callable
from typing import Final, cast
from urllib.parse import quote

from fastapi import FastAPI, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from sourcebook.server.page.rendering import is_partial, render
from sourcebook.server.page.sentences import said
from sourcebook.server.page.translation import gettext
from sourcebook.server.page.visitors import SESSION_COOKIE, SignInError
from sourcebook.server.problems import MEDIA_TYPE

_Handler = Callable[[Request, Exception], Awaitable[Response]]
_FOR_PROGRAMS: Final = ("/v1/", "/widget/", "/health", "/ready", "/metrics", "/openapi.json")
"""Beginnings of the paths whose errors are problem details, whoever asks."""
HEADINGS: Final = {
    400: "That cannot be asked",
    403: "Not allowed",
    404: "There is nothing here",
    409: "That cannot be done now",
    410: "No longer there",
    413: "Too large",
    422: "That cannot be asked",
    503: "Not available right now",
}


def add_page_errors(app: FastAPI) -> None:
    """Answer errors with pages where a browser asks for one; the handlers of an app are kept for all others."""
    for kind, handler in list(app.exception_handlers.items()):
        app.add_exception_handler(kind, _as_page(cast("_Handler", handler)))
    app.add_exception_handler(SignInError, _to_sign_in)


def _as_page(handler: _Handler) -> _Handler:
    """Return a handler that turns the problem of another one into a page."""

    async def handle(request: Request, error: Exception) -> Response:
        answer = await handler(request, error)
        wanted = request.headers.get("accept", "")
        is_page, is_script = "text/html" in wanted, MEDIA_TYPE in wanted
        is_for_programs = request.url.path.startswith(_FOR_PROGRAMS) or not (is_page or is_script)
        if is_for_programs or not isinstance(answer.body, bytes):
            return answer
        if not is_page:
            return in_visitors_language(answer)
        problem = json.loads(answer.body)
        heading = gettext(HEADINGS.get(problem["status"], problem["title"]))
        template = "error_part.html" if is_partial(request) else "error.html"
        page = render(request, template, problem["status"], heading=heading, detail=problem["detail"])
        if "Retry-After" in answer.headers:
            page.headers["Retry-After"] = answer.headers["Retry-After"]
        return page

    return handle


def in_visitors_language(answer: Response) -> Response:
    """Return an answer in JSON to a script of the page, with its sentences in the visitor's language."""
    told = json.loads(bytes(answer.body))
    if "detail" in told:
        told["detail"] = said(told["detail"])
    if "refused" in told:
        told["refused"] = [{**each, "reason": said(each["reason"])} for each in told["refused"]]
    headers = {name: value for name, value in answer.headers.items() if name != "content-length"}
    return JSONResponse(told, answer.status_code, headers, answer.media_type)


async def _to_sign_in(request: Request, _: Exception) -> Response:
    """Lead a visitor to the page that takes a key, and from there back."""
    asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    asked = asked if request.method == "GET" else "/"  # a form is not sent again by a link
    target = f"/sign-in?next={quote(asked, safe='')}"
    if is_partial(request):
        return Response(status_code=204, headers={"HX-Redirect": target})
    if request.headers.get("sec-fetch-site") == "cross-site" and SESSION_COOKIE not in request.cookies:
        # Strict cookies do not come with a link of another site. The page asks once more, from itself.
        return HTMLResponse("", headers={"Refresh": "0", "Cache-Control": "no-store"})
    return RedirectResponse(target, 303)

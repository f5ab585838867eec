"""The page of browsers that are signed in."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from sourcebook.operations import access_keys
from sourcebook.server.page.forms import ReaderForm, redirect_to
from sourcebook.server.page.rendering import render
from sourcebook.server.page.visitors import Knowledge, Visitor
from sourcebook.server.routes.keys import end_session, keys_of_sessions

router = APIRouter(include_in_schema=False)


@router.get("/sessions")
def show_sessions(request: Request, knowledge: Knowledge, visitor: Visitor) -> Response:
    """Show the browsers that are signed in with the visitor's key; an administrator sees those of others, too."""
    found = access_keys.sessions(knowledge, keys_of_sessions(knowledge, visitor))
    return render(request, "sessions.html", sessions=found)


@router.post("/sessions/{number}/end")
def sign_out_browser(number: int, knowledge: Knowledge, form: ReaderForm) -> Response:
    """Sign a browser out."""
    end_session(number, knowledge, form.visitor)
    return redirect_to("/sessions")

"""The page of browsers that are signed in."""

from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from sourcebook.operations import access_keys
from sourcebook.server.page.forms import ReaderForm, redirect_to
from sourcebook.server.page.rendering import render
from sourcebook.server.page.visitors import Knowledge, Visitor
from sourcebook.server.routes.keys import end_session, keys_of_sessions

router = APIRouter(include_in_schema=False)
_BROWSERS: Final = {"Edg": "Edge", "OPR/": "Opera", "Firefox": "Firefox", "Chrome": "Chrome", "Safari": "Safari"}
_SYSTEMS: Final = ("Windows", "Android", "iPhone", "iPad", "Macintosh", "Linux")
"""Words of a User-Agent; the first that it has counts, as most browsers name others behind their own."""


@router.get("/sessions")
def show_sessions(request: Request, knowledge: Knowledge, visitor: Visitor) -> Response:
    """Show the browsers that are signed in with the visitor's key; an administrator sees those of others, too."""
    found = access_keys.sessions(knowledge, keys_of_sessions(knowledge, visitor))
    return render(request, "sessions.html", sessions=found, browser_name=browser_name)


@router.post("/sessions/{number}/end")
def sign_out_browser(number: int, knowledge: Knowledge, form: ReaderForm) -> Response:
    """Sign a browser out."""
    end_session(number, knowledge, form.visitor)
    return redirect_to("/sessions")


def browser_name(agent: str) -> str:
    """Return a browser and its system as people call them; the whole User-Agent where it names none."""
    browser = next((name for word, name in _BROWSERS.items() if word in agent), None)
    system = next((word for word in _SYSTEMS if word in agent), None)
    return ", ".join(each for each in (browser, system) if each) if browser else agent

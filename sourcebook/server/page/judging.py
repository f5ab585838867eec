"""Thumbs on results: whether a document answers a query, kept as a judgment of the collection."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from sourcebook.contract.judgments import MOST_JUDGED_CHARACTERS
from sourcebook.errors import QueryError
from sourcebook.server.page.forms import WriterForm, own_address, redirect_to
from sourcebook.server.page.rendering import is_partial
from sourcebook.server.page.translation import gettext
from sourcebook.server.page.visitors import Knowledge
from sourcebook.server.routes.judgments import JudgmentSent, judged
from sourcebook.server.visibility import NotFoundError

router = APIRouter(include_in_schema=False)
_GRADES = {"yes": 1, "no": 0, "": None}
"""Grade by what the form says; nothing takes a judgment back."""


@router.post("/judgments")
def judge_result(request: Request, knowledge: Knowledge, form: WriterForm) -> Response:
    """Keep what a person thinks of a result, and lead back to the results; a script that asks stays where it is."""
    query, document, answers = form.one("query"), form.one("document"), form.one("answers")
    if answers not in _GRADES or not document.isdecimal() or not 0 < len(query.strip()) <= MOST_JUDGED_CHARACTERS:
        raise QueryError(gettext("the form says of no document whether it answers a query"))
    sent = JudgmentSent(query=query, document=int(document), grade=_GRADES[answers])
    try:
        judged(knowledge, form.visitor, sent)
    except NotFoundError:
        if _GRADES[answers] is not None:
            raise  # what is taken back twice is gone
    return Response(status_code=204) if is_partial(request) else redirect_to(own_address(form.one("next")))

"""Routes for judgments: which documents answer which queries, as people say."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BeforeValidator, ConfigDict, Field
from starlette.requests import Request

from sourcebook.admin.judgments import HIGHEST_GRADE
from sourcebook.contract.judgments import MOST_JUDGED_CHARACTERS
from sourcebook.errors import QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.access import Knowledge, Writer
from sourcebook.server.request_models import Sent, Whole, as_whole
from sourcebook.server.visibility import NotFoundError, visible_document

router = APIRouter(prefix="/judgments", tags=["judgments"])

_Grade = Annotated[int, Field(strict=True, ge=-HIGHEST_GRADE, le=HIGHEST_GRADE), BeforeValidator(as_whole)]


class JudgmentSent(Sent):
    """A judgment; every option of `KnowledgeBase.judge`."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"query": "How long do the batteries last?", "document": "handbook/power.md"}]},
    )

    query: str = Field(min_length=1, max_length=MOST_JUDGED_CHARACTERS, pattern=r"\S", description="As it was asked.")
    document: str | Whole = Field(description="Its id, its URI or the end of its path.")
    grade: _Grade | None = Field(
        default=1,
        description="0 where the document does not answer, above 0 the better it does; null deletes the judgment.",
    )
    collection: str | None = Field(default=None, description="Its collection, where several have it.")


@router.post("", status_code=204, operation_id="judge")
def judge(sent: JudgmentSent, request: Request, knowledge: Knowledge, grant: Writer) -> None:
    """Record how well a document answers a query, in place of an earlier judgment."""
    request.state.sent = [sent.query, sent.document, sent.collection]
    judged(knowledge, grant, sent)


@router.delete("", status_code=204, operation_id="forget_judgment")
def forget_judgment(
    knowledge: Knowledge,
    grant: Writer,
    query: Annotated[
        str,
        Query(
            min_length=1,
            max_length=MOST_JUDGED_CHARACTERS,
            pattern=r"\S",
            description="As it was asked.",
            examples=["How long do the batteries last?"],
        ),
    ],
    document: Annotated[
        str, Query(description="Its id, its URI or the end of its path.", examples=["handbook/power.md"])
    ],
    collection: Annotated[str | None, Query(description="Its collection, where several have it.")] = None,
) -> None:
    """Delete the judgment of a document for a query."""
    judged(knowledge, grant, JudgmentSent(query=query, document=document, grade=None, collection=collection))


def judged(knowledge: KnowledgeBase, grant: Grant, sent: JudgmentSent) -> None:
    """Record or delete a judgment of a document that exists for the caller.

    Raises:
        NotFoundError: there is no such document or judgment.
    """
    item = visible_document(knowledge, grant, sent.document, sent.collection, reading=None).item
    document = item.uri if item.document_id is None else item.document_id
    try:
        knowledge.judge(sent.query, document, sent.grade, collection=item.collection, actor=grant.actor)
    except QueryError as error:
        if sent.grade is None:  # everything else was checked before
            raise NotFoundError("there is no such judgment") from error
        raise

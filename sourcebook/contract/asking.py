"""The request of a question to a language model: every option of its."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypedDict

from sourcebook.contract.fields import Choices, Contained, Declared, DocumentName, Field, Phrase, Request, storable
from sourcebook.contract.filters import Filters
from sourcebook.contract.search import SearchRequest
from sourcebook.errors import QueryError

ToolOption = Literal["tags", "filters", "neighbours"]
"""Arguments of the model's own searches that a program may allow."""
MOST_TURNS: Final = 50
"""Questions and answers of a history, at most."""
LONGEST_TURN: Final = 100_000
"""Characters of a question or an answer of a history, at most."""
_LONGEST_INSTRUCTIONS: Final = 20_000
_LONGEST_SCHEMA: Final = 50_000
_DOCUMENT, _CONVERSATION = "Document", "Conversation"
_PAGES: Final = re.compile(r"\d{1,9}(?:-\d{1,9})?(?:\s*,\s*\d{1,9}(?:-\d{1,9})?){0,99}", re.ASCII)
_SESSION: Final = re.compile(r"[\w.:-]{1,100}", re.ASCII)
_HISTORY: Final = f'at most {MOST_TURNS} of {{"question": …, "answer": …}}'


@dataclass(frozen=True, slots=True)
class EarlierTurn:
    """A question of a conversation, and its answer."""

    question: str
    answer: str


class SchemaField(Field):
    """JSON schema of an object or another value."""

    def check(self, declared: Declared, value: Any) -> dict[str, Any]:
        try:
            written = json.dumps(dict(value), allow_nan=False) if isinstance(value, Mapping) else ""
        except (TypeError, ValueError, RecursionError):
            written = ""
        if not written:
            raise QueryError(
                f"{declared.name} must be a JSON schema, such as {{'type': 'object', 'properties': {{…}}}}"
            )
        if len(written) > _LONGEST_SCHEMA:
            raise QueryError(
                f"{declared.name} has {len(written):,} characters, at most {_LONGEST_SCHEMA:,} are allowed"
            )
        checked: dict[str, Any] = json.loads(storable(written))
        return checked


class HistoryField(Field):
    """Earlier questions with their answers, the oldest first; none where empty."""

    def check(self, declared: Declared, value: Any) -> tuple[EarlierTurn, ...]:
        if not isinstance(value, list | tuple) or len(value) > MOST_TURNS:
            raise QueryError(f"{declared.name} must be a list, {_HISTORY}")
        return tuple(_turn(declared.name, number, each) for number, each in enumerate(value, start=1))

    def as_json(self, value: Sequence[EarlierTurn]) -> list[dict[str, str]]:
        return [asdict(each) for each in value]


def _turn(name: str, number: int, value: Any) -> EarlierTurn:
    given = asdict(value) if isinstance(value, EarlierTurn) else value
    if not isinstance(given, Mapping) or set(given) != {"question", "answer"}:
        raise QueryError(f"turn {number} of {name} must have a question and an answer, and nothing else")
    if not all(isinstance(each, str) and len(each) <= LONGEST_TURN for each in given.values()):
        raise QueryError(f"turn {number} of {name} must be two texts of at most {LONGEST_TURN:,} characters")
    return EarlierTurn(storable(given["question"]), storable(given["answer"]))


class PagesField(Field):
    """Numbers and ranges of pages."""

    def check(self, declared: Declared, value: Any) -> str:
        text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        if not isinstance(text, str) or not _PAGES.fullmatch(text.strip()):
            raise self.refuse(declared, value, "pages such as 3, 3-7 or 1,3-7")
        for first, last in page_ranges(text):
            if not 1 <= first <= last:
                raise self.refuse(declared, value, "pages from 1, the lower number of a range first")
        return text.strip()


def page_ranges(pages: str) -> list[tuple[int, int]]:
    """Return the first and the last page of each range of a checked text."""
    ranges = [each.strip().partition("-") for each in pages.split(",")]
    return [(int(first), int(last or first)) for first, _, last in ranges]


class SessionField(Field):
    """Name of a conversation."""

    def check(self, declared: Declared, value: Any) -> str:
        if not isinstance(value, str) or not _SESSION.fullmatch(value):
            raise self.refuse(declared, value, "1 to 100 letters of ASCII, digits and signs among . _ : -")
        return value


class AskOptions(TypedDict, total=False):
    """Options of a question to a language model; `AskRequest` says what they mean."""

    filters: Filters | Mapping[str, Any] | None
    instructions: str | None
    document: str | int | Path | None
    document_pages: str | int | None
    answer_schema: Mapping[str, Any] | None
    history: Sequence[EarlierTurn | Mapping[str, str]]
    session: str | None
    tool_options: Sequence[ToolOption] | ToolOption


@dataclass(frozen=True, slots=True)
class AskRequest(Request):
    """A question to a language model whose options are checked."""

    search: Annotated[SearchRequest, Contained(AskOptions)]
    instructions: Annotated[
        str | None,
        Phrase(
            "How the model is to work, beside the rules of citing, such as: Answer in a table.",
            metavar="TEXT",
            most=_LONGEST_INSTRUCTIONS,
            bare=True,
        ),
    ] = None
    document: Annotated[
        str | int | None,
        DocumentName(
            "Document under work, which the model reads whole: its id, its URI, its path or the end of one.",
            panel=_DOCUMENT,
            metavar="DOCUMENT",
        ),
    ] = None
    document_pages: Annotated[
        str | None,
        PagesField("Only these pages of the document, such as 3-7.", panel=_DOCUMENT, metavar="PAGES", example="3-7"),
    ] = None
    answer_schema: Annotated[
        dict[str, Any] | None,
        SchemaField(
            "JSON schema of the answer, which then has a value of it beside its citations.",
            panel=_DOCUMENT,
            metavar="FILE",
            example={"type": "object", "properties": {"months": {"type": "integer"}}, "required": ["months"]},
        ),
    ] = None
    history: Annotated[
        tuple[EarlierTurn, ...],
        HistoryField(
            "Earlier questions and answers of the conversation, the oldest first.",
            panel=_CONVERSATION,
            metavar="FILE",
            bare=True,
            example=[{"question": "How long do batteries last?", "answer": "Fourteen months."}],
        ),
    ] = ()
    session: Annotated[
        str | None,
        SessionField(
            "Name of a conversation that is kept for the next question with this name; needs answering.sessions.",
            panel=_CONVERSATION,
            metavar="NAME",
        ),
    ] = None
    tool_options: Annotated[
        tuple[ToolOption, ...],
        Choices(
            "What the model may set in searches of its own, beside the query; all within the filters given here.",
            option="--tool-option",
            bare=True,
        ),
    ] = ()

    def __post_init__(self) -> None:
        """Check what must go together.

        Raises:
            QueryError: pages are given without a document, or a history with a session.
        """
        if self.document_pages is not None and self.document is None:
            raise QueryError("document_pages are pages of a document: give document, too")
        if self.history and self.session is not None:
            raise QueryError("a session has its own history: give one of history and session")

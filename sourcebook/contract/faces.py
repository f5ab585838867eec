"""Advice of messages in the words of the face that asks: an option has another name in each.

A message says what happened, and behind it `advice("literal")` names the means: the keyword argument in Python, the
option of the command, the parameter of a REST request, the argument of a tool. Where a face has no such means, there is
no advice.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Literal, get_args

Face = Literal["python", "command", "rest", "tool", "page"]
"""Where a request comes from: the Python API, the `sourcebook` command, REST, a tool of MCP, the page."""
FACES: Final[tuple[Face, ...]] = get_args(Face)
FACE_HEADER: Final = "Sourcebook-Face"
"""Header by which a client says that it asks for `python` or the `command`."""

ADVICE: Final[dict[str, dict[Face, str]]] = {
    "operators": {
        "python": "literal=False makes them operators",
        "command": "--operators makes them operators",
        "rest": '"literal": false makes them operators',
        "tool": "literal: false makes them operators",
    },
    "text": {
        "python": "literal=True makes it text",
        "command": "--literal makes it text",
        "rest": '"literal": true makes it text',
        "tool": "literal: true makes it text",
        "page": "in quotation marks it is searched",
    },
    "ingest": {
        "python": "run  sourcebook ingest {name}",
        "command": "run  sourcebook ingest {name}",
        "rest": "POST /v1/collections/{name}/sync  fills it",
    },
    "generations": {
        "python": "KnowledgeBase.generations lists them",
        "command": "sourcebook generations  lists them",
        "rest": "GET /v1/generations  lists them",
    },
    "passages": {
        "python": "KnowledgeBase.show lists them",
        "command": "sourcebook show  lists them",
        "rest": "GET /v1/documents/{document}/chunks  lists them",
        "tool": "fetch_document reads them",
        "page": "the page of the document shows them",
    },
}
"""Advice by its name and the face; `{name}` and the like are filled in."""

_asking: ContextVar[Face] = ContextVar("asking", default="python")


def advice(name: str, /, separator: str = "; ", **values: object) -> str:
    """Return an advice behind a separator in the words of the face that asks; nothing where it has none."""
    said = ADVICE[name].get(_asking.get())
    return "" if said is None else f"{separator}{said.format(**values)}"


@contextmanager
def asked_by(face: Face) -> Iterator[None]:
    """Let messages speak to a face within the context."""
    token = _asking.set(face)
    try:
        yield
    finally:
        _asking.reset(token)


def asking_face() -> Face:
    """Return the face that asks."""
    return _asking.get()

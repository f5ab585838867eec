"""Requests for work as a table."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from sourcebook.cli.output import say
from sourcebook.cli.tables import Column, Row, show_table

if TYPE_CHECKING:
    from sourcebook.contract.work import WorkRequest

COLUMNS: Final = (
    Column("id", "right"),
    Column("collection"),
    Column("part", is_prose=True, leaves=2),
    Column("state"),
    Column("progress", leaves=1),
    Column("failed", "right", leaves=3),
    Column("asked by", is_prose=True, leaves=5),
    Column("asked", leaves=4),
)
_STYLES: Final = {"failed": "red", "cancelled": "yellow", "succeeded": "green"}


def show_requests(requests: "Sequence[WorkRequest]", *, none: str = "There is no such request.") -> None:
    """Print requests for work on stdout, with the reasons of the failed ones.

    Args:
        requests: the requests.
        none: sentence where there are none.
    """
    if requests:
        show_table(COLUMNS, [_row(each) for each in requests], names_below=("error", "failed", "skipped"))
    else:
        say(none)


def part_of(arguments: Mapping[str, Any]) -> str:
    """Return the part of a collection that a request is about, in words."""
    words = [f"{name.replace('_', ' ')}" for name in ("only_failed", "force", "accept") if arguments.get(name)]
    for name in ("kinds", "sources", "documents"):
        listed = arguments.get(name) or ()
        words += listed if len(listed) <= 2 else [f"{len(listed):,} {name}"]
    return ", ".join(words) or "everything"


def progress_of(request: "WorkRequest") -> str:
    """Return how far a request is, in words; empty before it begins."""
    if request.stage is None:
        return ""
    return f"{request.stage.replace('_', ' ')} {request.done:,} of {request.total:,}"


def state_of(request: "WorkRequest") -> str:
    """Return the state of a request in words."""
    return "cancelling" if request.cancel_asked and not request.has_ended else request.state


def _row(request: "WorkRequest") -> Row:
    cells = (
        str(request.id),
        request.collection,
        part_of(request.arguments),
        state_of(request),
        progress_of(request),
        str(request.failed),
        request.asked_by,
        f"{request.asked_at.astimezone():%Y-%m-%d %H:%M}",
    )
    below = [("error", request.error)] if request.error else []
    below += [(each.state, f"{each.uri}: {each.reason}") for each in request.unread]
    return Row(cells, styles={3: _STYLES.get(request.state, "")}, below=tuple(below))

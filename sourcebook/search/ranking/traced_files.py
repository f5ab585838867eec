"""The passages of the lines that a stack trace names."""

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import unquote

from psycopg import Connection, sql

from sourcebook.database.queries import queries
from sourcebook.search.ranking.fusion import Candidate, RankedList
from sourcebook.search.ranking.leg import LegResult
from sourcebook.search.ranking.stack_traces import MOST_FRAMES, Frame, agreement
from sourcebook.search.scope import EntryCondition, SearchScope

_MOST_OF_A_NAME: Final = 3
"""Files that have a name and agree with a frame equally far, at most: of more, the frame says of none that it is it."""
_SEPARATORS: Final = re.compile(r"[\s_-]+")


class FixedList(RankedList):
    """A ranked list of passages that were found by something other than the legs."""

    merged_weight = 2.0
    """The first of them comes before a passage that is first by the words of the query and by those of its message."""

    def __init__(self, chunks: Sequence[int], whole: RankedList) -> None:
        """Make an empty list.

        Args:
            chunks: ids of the passages, best first.
            whole: the list of the whole query, by whose legs they are judged.
        """
        self._chunks, self._whole = chunks, whole
        self.candidates = []
        self.legs: Mapping[str, LegResult] = {}
        self.first_legs: Mapping[str, LegResult] = {}
        self.depth = 0

    @property
    def has_everything(self) -> bool:
        """Whether no extension brings more."""
        return True

    def extend(self) -> None:
        """Append the passages, each as the whole list has it where it is there; it has been extended before."""
        known = {each.chunk_id: each for each in self._whole.candidates}
        self.depth, self.legs, self.first_legs = self._whole.depth, self._whole.legs, self._whole.first_legs
        score = known[next(iter(known))].score if known else 1.0
        self.candidates += [known.get(chunk) or Candidate(chunk, score, self.depth) for chunk in self._chunks]


def traced_passages(
    connection: Connection, scope: SearchScope, frames: Sequence[Frame], condition: EntryCondition | None
) -> list[int]:
    """Return the ids of the passages with the lines of frames, innermost first, each once.

    A file is that of a frame by its name and the folders above it: the trace has the paths of another machine.

    Args:
        connection: in autocommit mode.
        scope: the generations that are searched.
        frames: of a stack trace, innermost first.
        condition: on entries.
    """
    names = {_SEPARATORS.sub("-", each.path[-1].casefold()).strip("-") for each in frames if each.path}
    wanted = {"collections": [each.collection for each in scope.generations], "names": sorted(names)}
    rows = connection.execute(queries["documents_by_name"], wanted).fetchall()
    paths = {number: [unquote(part) for part in uri.partition("#")[0].split("/")] for number, uri in rows}
    lines: list[tuple[int, int]] = []
    for frame in frames:
        common = {number: agreement(frame, path) for number, path in paths.items()}
        furthest = max(common.values(), default=0)
        found = [number for number, count in common.items() if furthest and count == furthest]
        if len(found) <= _MOST_OF_A_NAME:
            lines += [(number, frame.line) for number in found]
        if len(lines) >= MOST_FRAMES:
            break
    if not lines:
        return []
    lines = list(dict.fromkeys(lines))[:MOST_FRAMES]
    fragment = sql.SQL("true") if condition is None else condition.text
    statement = queries["passages_of_lines"].format(condition=fragment)
    values = {
        **(condition.parameters if condition else {}),
        "generations": scope.ids,
        "documents": [number for number, _ in lines],
        "lines": [line for _, line in lines],
    }
    return list(dict.fromkeys(chunk for (chunk,) in connection.execute(statement, values)))

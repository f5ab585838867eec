"""A load without a pause: edits, uploads, pages, requests of three collections, and when each change is searchable."""

import json
import re
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from random import Random

import psycopg

from benchmarks.harness.kills.oracle import torn_documents
from benchmarks.harness.library import Library
from sourcebook.database.database import Database
from sourcebook.errors import DatabaseError

NAMES = ("notes", "reports", "manual")
"""Collections, each with a folder and uploads; the last one has a site, too."""
REFRESH = 30
"""Seconds after which a page of the site is due again; a page cannot be found earlier."""
_FILES = {"notes": 30, "reports": 70, "manual": 20}
_PAGES = 8
_UPLOADS = 40
"""Names of uploads of a collection, which are replaced again and again."""
_WORDS = ("tide", "gauge", "harbour", "pier", "battery", "levelling", "radar", "storm", "island", "winter", "chart")
_SECONDS_TO_ANSWER = 60.0
_MARK = re.compile(r"\bm(\d+)x\b")
# SQL here: the comparisons are this benchmark's own.
_SHOWN = """
    SELECT collection.name, document.uri, string_agg(chunk.text, ' ')
    FROM search_entry entry
    JOIN collection ON collection.active_generation_id = entry.generation_id
    JOIN chunk ON chunk.id = entry.chunk_id
    JOIN document ON document.id = entry.document_id
    WHERE %(uris)s::text[] IS NULL OR document.uri = ANY(%(uris)s)
    GROUP BY 1, 2
"""


@dataclass(frozen=True)
class Change:
    """A change of one item."""

    source: str
    collection: str
    uri: str
    mark: int | None
    """Number in its newest text; None where it is gone."""
    at: float


@dataclass
class Lag:
    """The lags of one source, in seconds."""

    largest: float = 0.0
    changes: int = 0
    name: str = ""
    """Change with the largest lag."""


class ConstantLoad:
    """The items of a library, their changes, and when these were searchable.

    Args:
        library: an empty library with the collections `NAMES`.
        site: folder of the pages that a server shows at `url`.
        url: URL of the site, with a slash at the end.
        chance: source of every choice.
    """

    def __init__(self, library: Library, site: Path, url: str, chance: Random) -> None:
        self.library, self._site, self._url, self._chance = library, site, url, chance
        self.lags: defaultdict[str, Lag] = defaultdict(Lag)
        self.refused = 0
        """Uploads and requests that the server did not take, as while its database is away."""
        self.server_port = 0
        self._number = 0
        self._open: list[Change] = []
        self._marks: dict[str, dict[str, int]] = {name: {} for name in NAMES}
        """The newest mark of each item by collection and URI."""
        for name, files in _FILES.items():
            for _ in range(files):
                self._write(name, self._path(name), notes=False)
        for number in range(_PAGES):
            self._page(number, notes=False)
        links = "".join(f'<li><a href="page{number}.html">Page {number}</a></li>' for number in range(_PAGES))
        (site / "index.html").write_text(
            f"<html><title>Manual</title><body><main><ul>{links}</ul></main></body></html>"
        )
        self._configure()

    def actions(self, *, is_quiet: bool) -> list[tuple[float, Callable[[], None]]]:
        """Return what happens again and again: seconds between two times, and the action."""
        if is_quiet:
            return [(5.0, self._edit)]
        return [
            (1.0, self._edit), (2.7, self._append), (2.0, self._upload), (7.0, self._request),
            (5.0, lambda: self._page(self._chance.randrange(_PAGES))), (80.0, self._edit_all),
        ]  # fmt: skip

    def look(self, database: Database) -> None:
        """Look which changes are searchable now."""
        if not self._open:
            return
        uris = sorted({change.uri for change in self._open})
        with suppress(DatabaseError, psycopg.Error):
            shown = self._shown(database, uris)
            now = time.monotonic()
            self._open = [change for change in self._open if not self._note(change, shown, now)]

    def close(self) -> None:
        """Count what was never searchable with the time that it has been waiting."""
        now = time.monotonic()
        for change in self._open:
            self._count(change, now)

    @property
    def waiting(self) -> int:
        """Number of changes that are not searchable."""
        return len(self._open)

    @property
    def waiting_beside_the_growing_file(self) -> int:
        """Number of changes that are not searchable, of other items than the one that never rests."""
        return sum(change.uri != self._growing.as_uri() for change in self._open)

    def add_file(self, collection: str) -> None:
        """Add a file, whose lag counts from now."""
        self._write(collection, self._path(collection))

    def differences(self, database: Database) -> list[str]:
        """Return what differs between the items and the index, as sentences."""
        try:
            shown = self._shown(database, None)
            with database.connection() as connection:
                torn = torn_documents(connection)
        except (DatabaseError, psycopg.Error) as error:
            return [f"the database is away: {error}"]
        expected = {(name, uri): {mark} for name, marks in self._marks.items() for uri, mark in marks.items()}
        expected[("manual", self._url)] = set()
        found = {place: marks for place, marks in shown.items() if place[1] != f"{self._url}index.html"}
        return torn + [
            f"{uri} of {name} has the marks {found.get((name, uri))}, not {expected.get((name, uri))}"
            for name, uri in sorted(expected.keys() | found.keys())
            if found.get((name, uri)) != expected.get((name, uri)) and uri != self._growing.as_uri()
        ]

    def _shown(self, database: Database, uris: list[str] | None) -> dict[tuple[str, str], set[int]]:
        with database.connection() as connection:
            rows = connection.execute(_SHOWN, {"uris": uris}).fetchall()
        return {(name, uri): {int(mark) for mark in _MARK.findall(text)} for name, uri, text in rows}

    def _note(self, change: Change, shown: dict[tuple[str, str], set[int]], now: float) -> bool:
        marks = shown.get((change.collection, change.uri), set())
        if marks and (change.mark is None or max(marks) < change.mark):
            return False
        if not marks and change.mark is not None and change.uri in self._marks[change.collection]:
            return False  # one that was deleted meanwhile needs not have been seen
        self._count(change, now)
        return True

    def _count(self, change: Change, now: float) -> None:
        lag, seconds = self.lags[change.source], now - change.at
        lag.changes += 1
        if seconds > lag.largest:
            lag.largest, lag.name = seconds, f"{change.uri.rpartition('/')[2]} m{change.mark}"

    def _changed(
        self, kind: str, collection: str, uri: str, mark: int | None, *, notes: bool, wait: float = 0.0
    ) -> None:
        if mark is None:
            self._marks[collection].pop(uri, None)
        else:
            self._marks[collection][uri] = mark
        if notes:
            change = Change(f"{kind} of {collection}", collection, uri, mark, time.monotonic() + wait)
            self._open.append(change)

    @property
    def _growing(self) -> Path:
        return self.library.files_of("notes") / "growing.md"

    def _path(self, name: str) -> Path:
        self._number += 1
        return self.library.files_of(name) / f"note-{self._number:05}.md"

    def _text(self) -> str:
        self._number += 1
        words = " ".join(self._chance.choices(_WORDS, k=40))
        return f"# {self._chance.choice(_WORDS).title()} {self._number}\n\nMark m{self._number}x: {words}.\n"

    def _write(self, name: str, path: Path, *, notes: bool = True) -> None:
        path.write_text(self._text(), encoding="utf-8")
        self._changed("folder", name, path.as_uri(), self._number, notes=notes)

    def _edit(self) -> None:
        """Add, edit, rename or delete a file."""
        name = self._chance.choice(NAMES)
        files = sorted(set(self.library.files_of(name).glob("note-*.md")))
        path, chosen = self._chance.choice(files), self._chance.random()
        if chosen < 0.15 or len(files) < _FILES[name] // 2:
            self._write(name, self._path(name))
        elif chosen < 0.3:
            path.unlink()
            self._changed("folder", name, path.as_uri(), None, notes=True)
        elif chosen < 0.4:
            target, mark = self._path(name), self._marks[name][path.as_uri()]
            path.rename(target)
            self._changed("folder", name, path.as_uri(), None, notes=True)
            self._changed("folder", name, target.as_uri(), mark, notes=True)
        else:
            self._write(name, path)

    def _edit_all(self) -> None:
        """Edit every file of a collection: too much for the watch, which leaves it to a run of the daemon."""
        for path in sorted(self.library.files_of("reports").glob("note-*.md")):
            self._write("reports", path)

    def _append(self) -> None:
        """Append to a file that rests for two seconds at most."""
        self._number += 1
        with self._growing.open("a", encoding="utf-8") as file:
            file.write(f"\nMark m{self._number}x.\n")
        self._changed("growing file", "notes", self._growing.as_uri(), self._number, notes=True)

    def _page(self, number: int, *, notes: bool = True) -> None:
        title, _, text = self._text().partition("\n\n")
        path = self._site / f"page{number}.html"
        unfinished = path.with_suffix(".new")
        html = f"<html><title>{title[2:]}</title><body><main><h1>{title[2:]}</h1><p>{text}</p></main></body></html>"
        unfinished.write_text(html, encoding="utf-8")
        unfinished.replace(path)
        self._changed("site", "manual", f"{self._url}{path.name}", self._number, notes=notes, wait=REFRESH)

    def _upload(self) -> None:
        name, text = self._chance.choice(NAMES), self._text()
        mark, at = self._number, time.monotonic()
        answer = self._ask("PUT", f"/v1/uploads/{name}/upload-{self._chance.randrange(_UPLOADS)}.md", text)
        if answer is None:
            return
        uri = answer["uploads"][0]["uri"]
        self._changed("uploads", name, uri, mark, notes=True, wait=at - time.monotonic())

    def _request(self) -> None:
        asked = self._chance.choice(({}, {"kinds": ["files"]}, {"kinds": ["uploads"]}, {"only_failed": True}))
        self._ask("POST", f"/v1/collections/{self._chance.choice(NAMES)}/sync", json.dumps(asked))

    def _ask(self, method: str, path: str, body: str) -> dict[str, list[dict[str, str]]] | None:
        """Ask the server; None where it did not take the request."""
        kind = "application/json" if method == "POST" else "application/octet-stream"
        with suppress(OSError, HTTPException, ValueError), closing(self._connection()) as asking:
            asking.request(method, path, body.encode(), {"Content-Type": kind})
            answer = asking.getresponse()
            said = answer.read()
            if answer.status == 202:
                found: dict[str, list[dict[str, str]]] = json.loads(said)
                return found
        self.refused += 1
        return None

    def _connection(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.server_port, timeout=_SECONDS_TO_ANSWER)

    def _configure(self) -> None:
        site = {
            "url": self._url, "refresh": f"{REFRESH}s", "render": "never",
            "politeness": {"requests_per_second": "unlimited"}, "request": {"private_networks": ["127.0.0.0/8"]},
        }  # fmt: skip
        entries = {
            name: {"files": [{"root": str(self.library.files_of(name))}], "sites": [site] if name == "manual" else []}
            for name in NAMES
        }
        self.library.configuration_path.write_text(json.dumps({"collections": entries}), encoding="utf-8")


@dataclass
class Schedule:
    """Actions that come again and again."""

    actions: list[tuple[float, Callable[[], None]]]
    _next: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        now = time.monotonic()
        self._next = [now + seconds for seconds, _ in self.actions]

    def run_due(self) -> None:
        """Do what is due; what was missed while another action took long is left out."""
        for number, (seconds, act) in enumerate(self.actions):
            if time.monotonic() >= self._next[number]:
                act()
                self._next[number] = max(self._next[number] + seconds, time.monotonic())

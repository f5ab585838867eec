"""Drive a recipe's service through random changes and faults, and compare the records in the ledger with the truth."""

import importlib
import json
import os
import random
import re
import sys
import time
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import psycopg

from sourcebook.admin.collections import apply
from sourcebook.config.loading import load_configuration
from sourcebook.config.records import RecordSource
from sourcebook.database.database import Database
from sourcebook.errors import DatabaseError
from sourcebook.stages.raw_files.source_records import fetch_records
from tests.checkout import CHECKOUT
from tests.recipes.service import Change, Service

RECIPES = CHECKOUT / "examples" / "recipes"
PACKAGES = CHECKOUT / "tests" / "recipes" / "packages.txt"
"""The libraries of the recipes, in exact versions."""
_DAY = timedelta(hours=25)
"""Time after which every recipe lists everything once more."""
_WORD = re.compile(r"word\d+x")
_SKEWS = (timedelta(), timedelta(), timedelta(hours=3), timedelta(hours=-3))
_LEDGER = (
    "SELECT uri, content FROM source_record"
    " WHERE removed_at IS NULL AND source_id = %s AND content IS NOT NULL ORDER BY uri"
)
_STATE = "SELECT id, record_state, settings -> 'records' FROM source WHERE collection = %s AND removed_at IS NULL"


@dataclass
class Figures:
    """What a drill found: records at the end and looks, and every fault of the ledger in any comparison."""

    recipe: str
    changes: int = 0
    records: int = 0
    looks: int = 0
    failed: int = 0
    """Looks that an error of the service or a kill ended."""
    lost: int = 0
    doubled: int = 0
    stale: int = 0
    seconds: float = 0.0
    """Processor time."""
    refusal: str | None = None
    """The error of a look whose token was revoked; None for a service without one."""
    truth: dict[str, list[str]] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)


class Drill:
    """A drill of one recipe in one collection of a database, with the settings of its example as they stand."""

    def __init__(self, database: Database, service: Service, folder: Path, seed: int) -> None:
        self.database = database
        self.service = service
        self.random = random.Random(seed)
        self.figures = Figures(service.recipe)
        self.untold: set[str] = set()
        """Keys of records with changes that only a complete listing has to find."""
        self.requests = 1
        self.is_last = False
        folder.mkdir(parents=True, exist_ok=True)
        written = folder / "sourcebook.yaml"
        text = service.settings((RECIPES / service.recipe / "sourcebook.yaml").read_text(encoding="utf-8"))
        written.write_text(text, encoding="utf-8")
        for file in (RECIPES / service.recipe).glob("*.py"):
            (folder / file.name).write_bytes(file.read_bytes())
        with database.connection() as connection:
            configuration = load_configuration(written)
            apply(connection, configuration)
            (self.collection,) = configuration.collections
        self.source_id, _, settings = self._source()
        self.settings = RecordSource.model_validate(settings)
        if self.settings.python is not None:  # the recipe's clock is right, whatever that of the service says
            sys.path.append(str(folder))
            recipe = importlib.import_module(self.settings.python.use.partition(":")[0])
            if hasattr(recipe, "time"):
                recipe.time = lambda: service.time.timestamp()  # type: ignore[attr-defined]

    def run(self, changes: int) -> Figures:
        """Make changes, look now and then, and compare after each look; the last one lists everything."""
        started = time.process_time()
        for _ in range(8):
            self._change()
        self._look(None)
        faults = self._faults()
        for number in range(changes):
            self._change()
            if self.random.random() < 0.2:
                self.service.skew = self.random.choice(_SKEWS)
            if number % 3 == 2:
                if self.random.random() < 0.2:
                    self.service.time += _DAY
                self._look(next(faults))
        if self.service.environment:
            self.service.time += _DAY
            self._look("expired", at=1)
            self.figures.refusal = (self._source()[1] or {}).get("error")
        self.service.time += _DAY
        self.is_last = True
        self._look(None)
        self.figures.truth = self.service.truth()
        self.figures.records = len(self.figures.truth)
        self.figures.seconds = round(time.process_time() - started, 2)
        return self.figures

    def _faults(self) -> Iterator[str | None]:
        """Yield the faults of looks: each kind in turn, by chance, and none in every other look."""
        while True:
            kinds = [*self.service.faults]
            self.random.shuffle(kinds)
            for kind in kinds:
                yield kind
                yield None

    def _change(self) -> None:
        self.service.pass_time()
        with self.service.lock:
            self._note(self.service.change())
        self.figures.changes += 1

    def _note(self, change: Change) -> None:
        if not change.is_told or (self.service.follows_clock and self.service.skew < timedelta()):
            self.untold.add(change.key)

    def _look(self, fault: str | None, at: int | None = None) -> None:
        service, before = self.service, self._ledger()
        whole = (self._source()[1] or {}).get("cursor")
        service.begin(fault, at or self.random.randint(1, self.random.randint(1, max(1, self.requests))))
        self.figures.looks += 1
        error: str | None = None
        try:
            with self.database.own_connection() as connection:
                process = connection.info.backend_pid
                service.on_kill = lambda: self._end(process)
                fetch_records(connection, self.collection)
        except (DatabaseError, psycopg.Error) as killed:
            if fault != "kill":
                raise
            error = str(killed)
        state = self._source()[1] or {}
        error = error or state.get("error")
        service.fault = None
        self.figures.changes += len(service.meanwhile)
        if error is None:
            self.requests = service.requests
            if _whole(state.get("cursor")) != _whole(whole) or self.settings.table is not None:
                self.untold.clear()
            for change in service.meanwhile:
                self._note(change)
        else:
            self.figures.failed += 1
            for change in service.meanwhile:
                self._note(change)
            if fault is None:
                self._wrong("lost", f"a look without a fault fails: {error}")
        self._compare(before, is_read=error is None)

    def _compare(self, before: dict[str, list[str]], *, is_read: bool) -> None:
        truth = {self.settings.uri(key): words for key, words in self.service.truth().items()}
        ledger = self._ledger()
        excused = set() if self.is_last else {self.settings.uri(key) for key in self.untold}
        excused |= {self.settings.uri(change.key) for change in self.service.meanwhile}
        for uri in sorted(truth.keys() & before.keys() - ledger.keys()):
            self._wrong("lost", f"{uri} went, and is there")
        words = Counter(word for found in ledger.values() for word in {*found})
        for word in sorted(word for word, times in words.items() if times > 1):
            if not any(word in ledger[uri] for uri in excused & ledger.keys()):
                self._wrong("doubled", word)
        if not is_read:
            return
        for uri in sorted((truth.keys() | ledger.keys()) - excused):
            if uri not in ledger:
                self._wrong("lost", uri)
            elif uri not in truth:
                self._wrong("stale", f"{uri} is gone")
            elif ledger[uri] != truth[uri]:
                self._wrong("stale", f"{uri}: {ledger[uri]}, and it is {truth[uri]}")

    def _wrong(self, kind: str, example: str) -> None:
        setattr(self.figures, kind, getattr(self.figures, kind) + 1)
        if len(self.figures.examples) < 10:
            self.figures.examples.append(f"look {self.figures.looks}: {kind}: {example}")

    def _source(self) -> tuple[int, dict[str, Any] | None, dict[str, Any]]:
        with self.database.connection() as connection:
            ((source_id, state, settings),) = connection.execute(_STATE, (self.collection,)).fetchall()
        return source_id, state, settings

    def _ledger(self) -> dict[str, list[str]]:
        with self.database.connection() as connection:
            rows = connection.execute(_LEDGER, (self.source_id,)).fetchall()
        found: dict[str, list[str]] = {}
        for uri, content in rows:  # an attachment comes behind its record
            record = uri.rpartition("/")[0]
            found.setdefault(record if record in found else uri, []).extend(_words(bytes(content)))
        return found

    def _end(self, process: int) -> None:
        """End the session of the look, as a kill of its process does."""
        with self.database.connection() as connection:
            connection.execute("SELECT pg_terminate_backend(%s, 5000)", (process,))


def _whole(cursor: Any) -> Any:
    return cursor.get("whole") if isinstance(cursor, dict) else None


def _words(content: bytes) -> list[str]:
    """Return the words of a drill in the bytes of a document, title first."""
    envelope = json.loads(content)
    text = envelope.get("text", "")
    if "base64" in envelope:
        held = b64decode(envelope["base64"])
        text = held.decode("utf-8", "replace")
        if envelope["type"] == "message/rfc822":
            body = message_from_bytes(held, policy=policy.default).get_body()
            text = "" if body is None else body.get_content()
    return _WORD.findall(f"{envelope['title']}\n{text}")


def drill(database: Database, service: Service, folder: Path, *, changes: int, seed: int) -> Figures:
    """Drill one recipe: `changes` changes of the records of a service, a third as many looks at it."""
    with _environment(service), service:
        return Drill(database, service, folder, seed).run(changes)


@contextmanager
def _environment(service: Service) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(service.environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def shown(figures: Figures) -> str:
    """Return figures as a line of JSON."""
    return json.dumps(asdict(figures))

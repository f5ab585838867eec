"""The watch: small changes of local folders are ingested within seconds, in a process that has everything loaded.

A change of a folder lets it take whatever is at rest in the folders of the collection, so that a change that a killed
watch has lost, or that was made while nothing watched, does not wait for a pause of the others. Collections and
requests take turns, one ingest each, and a collection that changes without a pause gets half of the time.

The sensor `changed_files` finds every change, too, some half a minute later: also those of remote sources and of
network file systems. Large changes, recordings and sites are left to it.
"""

import logging
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from threading import Event

from orchestration.ingest import IngestedCollection, IngestEvents, ingest
from orchestration.recorder import record_finished_runs
from orchestration.request_watch import RequestWatch
from orchestration.turns import Turns
from sourcebook.admin.collections import all_givers, collection_names
from sourcebook.admin.pending import find_pending
from sourcebook.config.loading import Configuration, load_configuration, sourcebook_home, without_file
from sourcebook.database.database import Database
from sourcebook.database.lock import is_awaited
from sourcebook.embedding.embedder_pool import EmbedderPool
from sourcebook.errors import ConfigurationError, DatabaseError, ListingError, SourcebookError
from sourcebook.files.listing import file_uri
from sourcebook.files.watching import SECONDS_AT_REST, Events, WatchedSource, changes_at_rest
from sourcebook.model.file_state import FileState, file_state
from sourcebook.model.selection import Selection
from sourcebook.stages.raw_files import collection_sources

MOST_ITEMS = 100
"""Changed files of one collection up to which the watch ingests them; the sensor requests a run for more."""
_SECONDS_BETWEEN_LOOKS = 5.0
"""Seconds after which the sources of the ledger and the folders are compared with the watched ones."""
_SECONDS_BETWEEN_COMPARISONS = 15.0
"""Seconds after which a change lets the watch compare all folders of the collection."""
_SECONDS_WITHOUT_A_WATCH = 60.0
"""Seconds until the next attempt where the system grants no watch."""
_SECONDS_TO_KEEP_A_MODEL = 300.0
"""Seconds without a change after which the embedding model leaves the memory."""
_SECONDS_BETWEEN_DELETIONS = 600.0
"""Seconds after which the watch deletes runs that are too many, which its own become under constant changes."""
_DELETIONS = 200
_LONGEST_BACK_OFF = 30.0
"""Seconds between attempts while the database cannot be reached, at most."""

_log = logging.getLogger("sourcebook.watch")


@dataclass(slots=True)
class FolderWatch:
    """A watch over the local folders of every collection."""

    configuration_path: Path
    database: Database
    stop: Event
    _configuration: Configuration | None = None
    """The last good configuration since the start; changes are left to the sensor where there is none."""
    _waiting: dict[str, dict[str, float]] = field(default_factory=dict)
    """Changed URIs by collection, each with the time at which it came to rest, in seconds of the monotonic clock."""
    _events: dict[str, Events] = field(default_factory=dict)
    """Paths that are still being written; see `changes_at_rest`."""
    _embedders: EmbedderPool = field(default_factory=EmbedderPool)
    _watched: list[tuple[WatchedSource, tuple[int, int] | None]] | None = None
    """The watched sources, each with the identity of its folder; None before the first watch."""
    _last_ingest: float = 0.0
    _deleted: float = 0.0
    _compared: dict[str, float] = field(default_factory=dict)
    """Times of the last comparison of all folders by collection."""
    _turns: Turns = field(init=False)
    _requests: RequestWatch | None = None
    """Requests for work; None until it runs."""
    _mark: FileState | None = None
    """Modification time and size of the configuration file when it was read last."""

    def __post_init__(self) -> None:
        """Let every collection have its first turn at once."""
        self._turns = Turns(self.database)

    def run(self) -> None:
        """Watch until `stop` is set; an error of a run, a source or the database is logged and overcome."""
        from orchestration.definitions import defs  # a second of imports for which no change waits

        defs.resolve_job_def("ingest")
        self._current_configuration()
        self._delete_runs()
        back_off = 1.0
        self._requests = RequestWatch(self.database, self._embedders, self._turns)
        try:
            while not self.stop.is_set():
                try:
                    self._watch_folders()
                    back_off = 1.0
                except DatabaseError as error:
                    self._requests.close()
                    _log.warning("%s; next attempt in %.0f s", error, back_off)
                    self.stop.wait(back_off)
                    back_off = min(2 * back_off, _LONGEST_BACK_OFF)
                except ListingError as error:
                    _log.warning("%s; until then the sensor changed_files finds changes", error)
                    self.stop.wait(_SECONDS_WITHOUT_A_WATCH)
        finally:
            self._requests.close()
            self._embedders.close()

    def _watch_folders(self) -> None:
        """Watch the present folders until they or the sources change."""
        sources = self._sources()
        identities = {folder: _identity(folder) for folder in sorted({source.source.location for source in sources})}
        folders = [folder for folder, identity in identities.items() if identity is not None]
        looked, is_watching = time.monotonic(), False
        for paths in changes_at_rest(folders, self.stop, self._events) if folders else self._idle():
            if not is_watching:
                is_watching = True
                _log.info("watching %s", ", ".join(folders) or "nothing: no local folder exists")
                self._note_new_folders([(source, identities[source.source.location]) for source in sources])
            self._note(sources, paths)
            self._ingest_waiting()
            if self._requests is not None and self._requests.check(self._current_configuration):
                self._last_ingest = time.monotonic()
            if time.monotonic() - looked >= _SECONDS_BETWEEN_LOOKS:
                looked = time.monotonic()
                self._release_model()
                record_finished_runs(self.database, self.configuration_path, sourcebook_home(self.configuration_path))
                if looked - self._deleted >= _SECONDS_BETWEEN_DELETIONS:
                    self._delete_runs()
                if self._sources() != sources or any(_identity(name) != known for name, known in identities.items()):
                    return

    def _idle(self) -> Iterator[list[str]]:
        while not self.stop.wait(0.5):
            yield []

    def _sources(self) -> list[WatchedSource]:
        with self.database.connection() as connection:
            return [
                WatchedSource(name, replace(source, listing_error=None))
                for name in collection_names(connection)
                for source in collection_sources(connection, name)
                if source.is_local
            ]

    def _note_new_folders(self, watched: list[tuple[WatchedSource, tuple[int, int] | None]]) -> None:
        """Note the files of folders that are watched since now: what was written before has given no event.

        The folders of the start are compared as a whole, however many files they have.
        """
        for source, identity in watched:
            if self._watched is None:
                self._waiting.setdefault(source.collection, {})[file_uri(source.source.location)] = time.monotonic()
            elif identity is not None and (source, identity) not in self._watched:
                self._note([source], [source.source.location])
        self._watched = watched

    def _note(self, sources: list[WatchedSource], paths: list[str]) -> None:
        """Note the files that changed paths stand for, of each collection until they are too many to ingest here."""
        now = time.monotonic()
        for path in paths:
            for source in sources:
                if len(self._waiting.get(source.collection, ())) > MOST_ITEMS:
                    continue
                files = source.changed_files(path)
                if files is None:
                    _log.info("%s: %s is left to the sensor changed_files", source.collection, path)
                    continue
                waiting = self._waiting.setdefault(source.collection, {})
                waiting.update((uri, now) for uri in files)

    def _ingest_waiting(self) -> None:
        """Ingest the changes of the collection that has waited longest; the others follow half a second later."""
        waiting = {name: min(uris.values()) for name, uris in self._waiting.items() if uris}
        for name in sorted(waiting, key=waiting.__getitem__):
            if len(self._waiting[name]) > MOST_ITEMS:
                _log.info("%s: more than %d changes are left to the sensor changed_files", name, MOST_ITEMS)
                self._waiting[name].clear()
            elif self._turns.is_free(name):
                with self._turns.taken(name):
                    self._ingest(name)
                return

    def _ingest(self, name: str) -> None:
        """Ingest the waiting changes of a collection; a failed run is logged and left to the sensor."""
        waiting = self._waiting.pop(name)
        configuration = self._current_configuration()
        if configuration is None:
            return
        try:
            if (selection := self._selection(name, waiting)) is None:
                return
            for done in ingest(
                configuration,
                self.database,
                collections=[name],
                selection=selection,
                events=IngestEvents(),
                embedders=self._embedders,
            ):
                self._report(done, min(waiting.values()))
            self._ingest_takers(configuration, name, min(waiting.values()))
        except DatabaseError:
            self._waiting[name] = waiting
            raise
        except SourcebookError as error:
            _log.warning("%s: %s", name, error)
        finally:
            self._last_ingest = time.monotonic()

    def _selection(self, name: str, changed: Collection[str]) -> Selection | None:
        """Return what to ingest where some files of a collection have changed: from time to time all that is at rest.

        The folders and uploads alone: a due site would hold these files up for the time of a crawl.
        """
        with self.database.connection() as connection:
            sources = collection_sources(connection, name)
            folders = tuple(each.location for each in sources if each.is_local or each.uploads is not None)
            if time.monotonic() - self._compared.get(name, -inf) >= _SECONDS_BETWEEN_COMPARISONS:
                self._compared[name] = time.monotonic()
                whole = Selection(sources=folders, at_rest=SECONDS_AT_REST)
                pending = find_pending(connection, name, whole)
                moving = {uri for each in pending.differences for uri in each.moving}
                is_small = pending.items <= MOST_ITEMS and not (pending.recordings or pending.new_recordings)
                if is_small and moving.isdisjoint(changed):
                    return whole
        files = set(changed).difference(map(file_uri, folders))  # what the start has noted is left to the sensor
        return Selection(documents=tuple(files), sources=folders) if files else None

    def _ingest_takers(self, configuration: Configuration, name: str, at_rest_since: float) -> None:
        """Ingest what other collections take of a collection; where one is being ingested, it is left to the sensor."""
        with self.database.connection() as connection:
            takers = all_givers(connection)
        for taker, givers in takers.items():
            if name not in givers:
                continue
            with self.database.connection() as connection:
                if is_awaited(connection, taker):
                    continue
            for done in ingest(
                configuration,
                self.database,
                collections=[taker],
                selection=Selection(sources=(name,)),
                events=IngestEvents(),
                embedders=self._embedders,
            ):
                self._report(done, at_rest_since)
            self._ingest_takers(configuration, taker, at_rest_since)

    def _report(self, done: IngestedCollection, at_rest_since: float) -> None:
        if done.run_id is not None:
            seconds = time.monotonic() - at_rest_since
            _log.info("%s: run %s, done %.1f s after the change had come to rest", done.name, done.run_id, seconds)

    def _current_configuration(self) -> Configuration | None:
        """Return the configuration; where its file has a mistake, the last good one."""
        if self._configuration is None and not self.configuration_path.exists():
            return without_file(self.configuration_path)
        try:
            mark = file_state(self.configuration_path.stat())
            if mark != self._mark:
                self._mark = mark
                self._configuration = load_configuration(self.configuration_path)
        except (OSError, ConfigurationError) as error:
            _log.warning("the last good configuration stays in use: %s", error)
        return self._configuration

    def _delete_runs(self) -> None:
        """Delete the oldest of the runs that are too many."""
        from orchestration.instance import open_instance
        from orchestration.retention import delete_runs, most_runs

        self._deleted = time.monotonic()
        instance = open_instance(sourcebook_home(self.configuration_path), self.database)
        try:
            delete_runs(instance, 0, most=most_runs(), at_once=_DELETIONS)
        except Exception as error:  # noqa: BLE001 - Dagster may raise anything; the nightly job says it, too
            _log.warning("old runs are not deleted now: %s", error)
        finally:
            instance.dispose()

    def _release_model(self) -> None:
        if self._last_ingest and time.monotonic() - self._last_ingest > _SECONDS_TO_KEEP_A_MODEL:
            self._embedders.close()
            self._last_ingest = 0.0


def _identity(folder: str) -> tuple[int, int] | None:
    """Return device and inode of a folder; None where it does not exist, as before a disk is mounted."""
    try:
        status = Path(folder).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino

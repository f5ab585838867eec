"""Changes below local folders, from the operating system's events, once each changed path has come to rest."""

import os
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from watchfiles import watch

from sourcebook.errors import FailureClass, ListingError
from sourcebook.files.listing import file_uri
from sourcebook.files.source import PathFilter, Source
from sourcebook.model.media_types import is_recording, media_type_of_name

SECONDS_AT_REST = 2.0
"""Seconds without an event after which a changed path is taken to be written completely."""
LONGEST_WRITING = 30.0
"""Seconds after its first event at which a path is taken that never comes to rest."""
MOST_FILES = 100
"""Files of one folder that appears; the comparison of the whole source finds larger ones."""
_MOST_ATTEMPTS = 10
"""Starts of a watch where folders vanish meanwhile, or are unreadable."""
_HEARTBEAT_MS = 500
"""Milliseconds after which the watch yields, even where nothing changed."""


@dataclass(slots=True)
class Events:
    """First and last event of a path that is not at rest yet, in seconds of the monotonic clock."""

    first: float
    last: float

    def is_over(self, now: float) -> bool:
        """Return whether the path has come to rest, or is taken as it is: its writing never pauses."""
        return now - self.last >= SECONDS_AT_REST or now - self.first >= LONGEST_WRITING


def changes_at_rest(folders: Sequence[str], stop: Event, events: dict[str, Events]) -> Generator[list[str]]:
    """Yield at least twice a second the paths that changed and have been at rest since, often none.

    A path that is written without a pause of `SECONDS_AT_REST` is yielded after `LONGEST_WRITING`. The folders of a
    network file system give no events for changes made elsewhere.

    Args:
        folders: absolute paths of existing folders or files; one that has vanished since is left out.
        stop: ends the watch within half a second.
        events: the paths that are not at rest yet; kept up to date, and handed to the next watch where the folders
            change.

    Raises:
        ListingError: the system grants no watch, such as where `fs.inotify.max_user_watches` is reached, or every
            folder has vanished.
    """
    present = list(folders)
    # With `ignore_permission_denied`, watchfiles passes over every other error as well, such as the limit of watches.
    passing_over = False
    reason: OSError | None = None
    for _ in range(_MOST_ATTEMPTS):
        try:
            for changes in watch(
                *present,
                watch_filter=None,
                debounce=400,
                step=50,
                rust_timeout=_HEARTBEAT_MS,
                yield_on_timeout=True,
                stop_event=stop,
                raise_interrupt=False,
                ignore_permission_denied=passing_over,
            ):
                now = time.monotonic()
                for _, path in changes:
                    events.setdefault(path, Events(now, now)).last = now
                rested = [path for path, each in events.items() if each.is_over(now)]
                for path in rested:
                    del events[path]
                yield rested
        except PermissionError as error:  # an unreadable folder below one of them: the others are watched without it
            reason, passing_over = error, True
        except FileNotFoundError as error:  # one of them, or a folder below them, vanished as the watch started
            reason = error
            present = [folder for folder in present if os.path.lexists(folder)]
            if not present:
                break
        except OSError as error:
            raise ListingError(f"{', '.join(present)} cannot be watched: {error}", FailureClass.UNREADABLE) from error
        else:
            return
    raise ListingError(f"{', '.join(folders)} cannot be watched: {reason}", FailureClass.UNREADABLE) from reason


@dataclass(frozen=True, slots=True)
class WatchedSource:
    """A local source of a collection, with the rules by which its paths count."""

    collection: str
    source: Source
    patterns: PathFilter = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile the patterns once."""
        object.__setattr__(self, "patterns", PathFilter(self.source.include, self.source.exclude))

    @property
    def _root(self) -> str:
        return self.source.location.rstrip("/")

    def changed_files(self, path: str) -> list[str] | None:
        """Return the URIs of the source's files that a changed path stands for.

        A folder stands for its files: moving it gives one event. A path that is gone may have been a folder; its own
        URI stands for whatever was below it, because an ingest notices every file that is gone.

        Args:
            path: an absolute path from an event.

        Returns:
            URIs; none where the source does not take the path, and None where the path is a folder of more than
            `MOST_FILES` files, or a recording: work for a whole ingest, which a few seconds do not suffice for.
        """
        if path != self._root and not path.startswith(f"{self._root}/"):
            return []
        relative = path[len(self._root) + 1 :]
        if Path(path).is_dir():
            return self._files_below(path) if _enters(self.patterns, relative) else []
        if not os.path.lexists(path):
            return [file_uri(path)] if self.patterns.takes(relative) or _enters(self.patterns, relative) else []
        if path != self._root and not self.patterns.takes(relative):
            return []
        return None if _is_recording(path) else [file_uri(path)]

    def _files_below(self, folder: str) -> list[str] | None:
        files: list[str] = []
        for above, folders, names in os.walk(folder):
            start = len(self._root) + 1
            folders[:] = [name for name in folders if self.patterns.enters(f"{above}/{name}"[start:], name)]
            for name in names:
                path = f"{above}/{name}"
                if not self.patterns.takes(path[start:]):
                    continue
                if _is_recording(path) or len(files) == MOST_FILES:
                    return None
                files.append(file_uri(path))
        return files


def _enters(patterns: PathFilter, folder: str) -> bool:
    """Return whether the source may include files below a folder, relative to its root."""
    parts = folder.split("/") if folder else []
    return all(patterns.enters("/".join(parts[: depth + 1]), name) for depth, name in enumerate(parts))


def _is_recording(path: str) -> bool:
    media_type = media_type_of_name(path)
    return media_type is not None and is_recording(media_type)

"""The rules of the stage `raw_files`: which files an update has to read."""

import hashlib
import re
import time
from datetime import UTC, datetime
from typing import NamedTuple

from sourcebook.files.listing import FileEntry
from sourcebook.files.source import Source
from sourcebook.model.media_types import COMPRESSED, FORMERLY_TEXT, JSON, PLAIN_TEXT, SVG, TAR, media_type_of_name
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.parsing.registry import is_taken, parsed_media_types

_RACY_NANOSECONDS = 2_000_000_000
"""Nanoseconds between modification and hashing of a file within which a later write may leave its time unchanged."""
_WHOLE_SECONDS = "000000000"
"""Last digits of a time in nanoseconds on a file system that keeps no fractions of seconds."""
_LATEST_NANOSECONDS = 2**63 - 1
"""Largest time of the ledger, in the year 2262; files of a later time are trusted."""
_NANOSECONDS = re.compile(r"\d{18,20}(?!\w)")
"""Time in nanoseconds at the beginning of a modification mark, of files of the years 2001 to 2286."""
_REVISION = 3
"""Number to be counted up when a change of this module leads to another result for the same files and rows."""


_MERE_TEXT = frozenset({PLAIN_TEXT, JSON})


class KnownFile(NamedTuple):
    """The ledger's row of one file; a tuple, because one is built for every file of a source."""

    uri: str
    size: int
    modified: str
    live: bool
    retry_due: bool
    failed: bool
    hashed_ns: int | None
    skip_reason: str | None
    media_type: str | None
    sha256: bytes | None
    touched: str | None = None
    """None where an earlier version read the file."""


def settings_digest(source: Source) -> bytes:
    """Return a digest of everything beside files and rows on which the comparison depends."""
    settings = (
        _REVISION,
        source.include,
        source.exclude,
        source.max_bytes,
        source.max_recording_bytes,
        source.follow_links,
        parsed_media_types(),
        *(["permissions"] if source.has_permissions else []),
        *(sorted(source.grantees.items()) if source.grantees else []),
    )
    return hashlib.sha256(repr(settings).encode("utf-8", "surrogatepass")).digest()


def is_settled(entry: FileEntry, known: KnownFile, source: Source) -> bool:
    """Return whether a file is unchanged without any doubt, as nearly every file of a source is."""
    return (
        known.live
        and entry.modified == known.modified
        and entry.size == known.size
        and not was_touched(entry, known)
        and entry.skip_reason is None
        and known.skip_reason is None
        and not known.failed
        and (entry.size <= source.least_most_bytes or entry.size <= source.most_bytes(entry.path))
        and not _has_own_type_now(entry, known)
        and not is_racy(entry, known)
    )


def wants_reading(entry: FileEntry, known: KnownFile | None, source: Source, selection: Selection) -> bool:
    """Return whether an update has to read a listed file, except where only a second look at its content can say."""
    if selection.documents and entry.uri not in selection.documents:
        return False
    if known is None:
        return not selection.only_failed
    if known.retry_due:
        return True
    if selection.only_failed:
        return False
    if known.failed and _same(entry, known):
        return was_touched(entry, known)  # such as by another mode, with which it can be read
    if not known.live or selection.force or not _same(entry, known):
        return True
    return _rules_changed(entry, known, source)


def _rules_changed(entry: FileEntry, known: KnownFile, source: Source) -> bool:
    """Return whether an unchanged file is to be skipped now, no longer, or for another reason."""
    if entry.skip_reason is not None:
        return entry.skip_reason != known.skip_reason
    skipped_unread = entry.size > source.most_bytes(entry.path)
    if known.skip_reason is None:
        return skipped_unread or _has_own_type_now(entry, known)
    if known.media_type is None:
        return not skipped_unread
    return is_taken(known.media_type) or _has_own_type_now(entry, known)


def has_reader_now(entry: FileEntry, known: KnownFile) -> bool:
    """Return whether this version reads a file that an earlier version skipped for its type, or took for mere text."""
    if entry.skip_reason is not None or known.media_type is None:
        return False
    return known.skip_reason is not None or _has_own_type_now(entry, known)


def _has_own_type_now(entry: FileEntry, known: KnownFile) -> bool:
    """Return whether an earlier version took a file for mere text, or a compressed file, and this one knows more."""
    if known.media_type in COMPRESSED:
        return media_type_of_name(entry.path) in {SVG, TAR}
    return known.media_type in _MERE_TEXT and media_type_of_name(entry.path) in FORMERLY_TEXT


def is_moving(entry: FileEntry, seconds: float) -> bool:
    """Return whether a file changed so recently that somebody may still be writing it.

    Neither an object of a store that says no time is moving, nor a blob of a repository: they appear whole.

    Args:
        entry: the file as listed.
        seconds: seconds for which a file at rest has not changed. A time that is further ahead is a wrong clock's.
    """
    changed = _changed_at(entry.modified) if seconds else None
    return changed is not None and abs(time.time() - changed) < seconds


def _changed_at(modified: str) -> float | None:
    """Return the time of a modification mark in seconds; None where the mark is no time."""
    if nanoseconds := _NANOSECONDS.match(modified):
        return int(nanoseconds[0]) / 1e9
    try:
        moment = datetime.fromisoformat(modified)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _same(entry: FileEntry, known: KnownFile) -> bool:
    return entry.size == known.size and entry.modified == known.modified


def was_touched(entry: FileEntry, known: KnownFile) -> bool:
    """Return whether a file has another change time or inode than when it was read.

    With the same size and modification time, its content alone tells an edit from a copy or another mode.
    """
    return known.touched is not None and entry.touched != known.touched


def was_renumbered(entry: FileEntry, known: KnownFile) -> bool:
    """Return whether only the inode of a file differs, as where a network file system numbers files at each mount."""
    return (
        known.touched is not None
        and entry.touched != known.touched
        and entry.touched.partition(" ")[0] == known.touched.partition(" ")[0]
        and not is_racy(entry, known)
    )


def is_other_mode(entry: FileEntry, known: KnownFile) -> bool:
    """Return whether another mode explains why the change time of a file differs, which is then not read for it."""
    return (
        known.touched is not None
        and known.sha256 is not None
        and known.live
        and not known.failed
        and _same(entry, known)
        and entry.touched.rpartition(" ")[2] == known.touched.rpartition(" ")[2]
        and not is_racy(entry, known)
    )


def wants_second_look(entry: FileEntry, known: KnownFile, selection: Selection = EVERYTHING) -> bool:
    """Return whether only its content says that a file of the same size and modification time is unchanged."""
    if selection.only_failed or (selection.documents and entry.uri not in selection.documents):
        return False
    if known.hashed_ns is None or not known.live or not _same(entry, known):
        return False
    return was_touched(entry, known) or is_racy(entry, known)


def is_racy(entry: FileEntry, known: KnownFile) -> bool:
    """Return whether a file was hashed so soon after its modification that a later write may have kept its time.

    That includes a modification in the future: the clock of the file, or that of this machine, was wrong. A change time
    counts like that where its file system keeps whole seconds, and where none was recorded when the file was read.
    """
    if known.hashed_ns is None or not known.live or known.failed or not entry.modified.isdigit():
        return False
    latest = _latest(entry, known)
    return known.hashed_ns - _RACY_NANOSECONDS < latest < _LATEST_NANOSECONDS - 2 * _RACY_NANOSECONDS


def _latest(entry: FileEntry, known: KnownFile) -> int:
    """Return the latest time of a file in nanoseconds that an edit after its reading may have left as it was."""
    modified, changed = int(entry.modified), entry.touched.partition(" ")[0]
    if changed.isdigit() and (known.touched is None or changed.endswith(_WHOLE_SECONDS)):
        return max(modified, int(changed))
    return modified


def confirmed_time(entry: FileEntry, known: KnownFile, now_ns: int) -> int:
    """Return the time of hashing to record for a racy file whose content is unchanged at a second look.

    A file from the future is trusted once two looks agree that are further apart than a file system's times are: a
    write between them would have had a later time by any clock that runs. Its recorded time is later than the file's.

    Args:
        entry: the file as listed.
        known: its row, with the time of the first look.
        now_ns: the time at which the second look began, in nanoseconds.
    """
    modified = _latest(entry, known)
    first = known.hashed_ns or 0
    if modified <= now_ns - _RACY_NANOSECONDS or first > now_ns:
        return now_ns
    return modified + 2 * _RACY_NANOSECONDS if now_ns - first >= _RACY_NANOSECONDS else first

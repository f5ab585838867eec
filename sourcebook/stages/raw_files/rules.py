"""The rules of the stage `raw_files`: which files an update has to read."""

import hashlib
import re
import time
from datetime import UTC, datetime
from typing import NamedTuple

from sourcebook.files.listing import FileEntry
from sourcebook.files.source import Source
from sourcebook.model.media_types import COMPRESSED, FORMERLY_TEXT, JSON, PLAIN_TEXT, SVG, TAR, media_type_of_name
from sourcebook.model.selection import Selection
from sourcebook.parsing.registry import is_taken, parsed_media_types

_RACY_NANOSECONDS = 2_000_000_000
"""Nanoseconds between modification and hashing of a file within which a later write may leave its time unchanged."""
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
    )
    return hashlib.sha256(repr(settings).encode("utf-8", "surrogatepass")).digest()


def is_settled(entry: FileEntry, known: KnownFile, source: Source) -> bool:
    """Return whether a file is unchanged without any doubt, as nearly every file of a source is."""
    return (
        known.live
        and entry.modified == known.modified
        and entry.size == known.size
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
    if selection.only_failed or (known.failed and _same(entry, known)):
        return False
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


def is_racy(entry: FileEntry, known: KnownFile) -> bool:
    """Return whether a file was hashed so soon after its modification that a later write may have kept its time.

    That includes a modification in the future: the clock of the file, or that of this machine, was wrong.
    """
    if known.hashed_ns is None or not known.live or known.failed or not entry.modified.isdigit():
        return False
    modified = int(entry.modified)
    return known.hashed_ns - _RACY_NANOSECONDS < modified < _LATEST_NANOSECONDS - 2 * _RACY_NANOSECONDS


def confirmed_time(entry: FileEntry, known: KnownFile, now_ns: int) -> int:
    """Return the time of hashing to record for a racy file whose content is unchanged at a second look.

    A file from the future is trusted once two looks agree that are further apart than a file system's times are: a
    write between them would have had a later time by any clock that runs. Its recorded time is later than the file's.

    Args:
        entry: the file as listed.
        known: its row, with the time of the first look.
        now_ns: the time at which the second look began, in nanoseconds.
    """
    modified = int(entry.modified)
    first = known.hashed_ns or 0
    if modified <= now_ns - _RACY_NANOSECONDS or first > now_ns:
        return now_ns
    return modified + 2 * _RACY_NANOSECONDS if now_ns - first >= _RACY_NANOSECONDS else first

"""How long each change of a collection has been waiting, by the looks of a sensor."""

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Final

from sourcebook.admin.pending import Pending
from sourcebook.model.shard import Shard
from sourcebook.stages.raw_files.shards import of_shard

_MOST: Final = 200
"""Changed files that are told apart; more are too much for the watch, and one change."""
_MANY: Final = "many"
_OTHER: Final = "other"
_WRITING: Final = "~"
"""First letter of the keys of files that are being written."""

FirstSeen = dict[str, float]
"""Times of the first look at each change that still waits, in seconds since the epoch."""


def first_seen(
    pending: Pending, before: Mapping[str, float], *, now: float, is_locked: bool, taken_at: float, shard: Shard | None
) -> FirstSeen:
    """Return the changes that wait with the time of the first look that found them.

    A file that is being written waits since a run has taken it last. Work beside files is not looked at while a process
    works on the collection, as it may be that process's.

    Args:
        pending: what waits.
        before: what the last look returned.
        now: the time.
        is_locked: whether a process works on the collection.
        taken_at: start of the last run that took everything.
        shard: the shard that is looked at.
    """
    before = {key: min(since, now) for key, since in before.items()}  # the clock may have been ahead
    differences = list(of_shard(pending.differences, shard))
    found: FirstSeen = {}
    if pending.changed_files + pending.gone_files > _MOST:
        found[_MANY] = max(before.get(_MANY, now), taken_at)
    else:
        for each in differences:
            lines = (*(f"{entry.uri} {entry.size} {entry.modified}" for entry in each.to_read), *each.gone)
            found.update((key, before.get(key, now)) for key in map(_key, lines))
    for each in differences:
        for uri in each.moving[:_MOST]:
            key, known = _WRITING + _key(uri), each.known.get(uri)
            found[key] = max(before.get(key, now), known.hashed_ns / 1e9 if known and known.hashed_ns else 0.0)
    if pending.has_other_work and (not is_locked or _OTHER in before):
        found[_OTHER] = max(before.get(_OTHER, now), taken_at)
    return found


def waiting_seconds(seen: Mapping[str, float], now: float, *, writing: bool) -> float | None:
    """Return the seconds for which the oldest change has been waiting; None where there is none.

    Args:
        seen: the changes.
        now: the time.
        writing: whether to look at the files that are being written, or at everything else.
    """
    return max((now - since for key, since in _kinds(seen, writing=writing)), default=None)


def _kinds(seen: Mapping[str, float], *, writing: bool) -> Iterator[tuple[str, float]]:
    return ((key, since) for key, since in seen.items() if key.startswith(_WRITING) == writing)


def _key(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()

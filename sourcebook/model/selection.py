"""The part of a collection that a run processes."""

from dataclasses import dataclass

from sourcebook.model.shard import Shard


@dataclass(frozen=True, slots=True)
class Selection:
    """The part of a collection to process; the whole collection by default.

    `documents` does not limit the listing of a source: files that are gone are always noticed.
    """

    documents: tuple[str, ...] = ()
    """URIs of documents; every document where empty."""
    sources: tuple[str, ...] = ()
    """Locations of sources; every source where empty."""
    only_failed: bool = False
    """Whether only failed items are processed, without waiting for their retry time."""
    force: bool = False
    """Whether the selected items are processed even where nothing changed."""
    thorough: bool = False
    """Whether all rows are compared, counted and checked again, not only those that changed since the last run."""
    deep: bool = False
    """Whether every file is hashed again although its size and time are as they were, and every keyword weight computed
    again; with `thorough`."""
    accept: bool = False
    """Whether documents go although their source loses more of them at once than `removals` lets pass."""
    shard: Shard | None = None
    """The shard whose items are processed; None: those of every shard."""
    at_rest: float = 0.0
    """Seconds for which a file must not have changed; one that changed since is left to the next run. 0 takes all."""

    @property
    def is_partial(self) -> bool:
        """Whether some stale items are left for another run."""
        return bool(self.documents or self.sources or self.only_failed)


EVERYTHING = Selection()

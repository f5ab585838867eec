"""Which part of a collection a run works on: everything, or what the run configuration names."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Selection:
    """The part of a collection to work on; the default is all of it.

    Listing is never narrowed by `documents`: what is gone from a source is always noticed.
    """

    documents: tuple[str, ...] = ()
    """URIs; empty means every document."""
    sources: tuple[str, ...] = ()
    """Locations of sources; empty means every source."""
    only_failed: bool = False
    """Work only on items that failed, without waiting for their retry time."""
    force: bool = False
    """Redo the selected items even where nothing changed."""


EVERYTHING = Selection()

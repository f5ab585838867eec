"""The resource `selection`: the part of a collection that a run processes."""

import dagster as dg
from pydantic import Field

from sourcebook.model.selection import Selection
from sourcebook.model.shard import Shard


class RunSelection(dg.ConfigurableResource["RunSelection"]):
    """The whole collection by default; set in the Launchpad under `resources: selection: config`."""

    documents: list[str] = Field(default=[], description="URIs of documents; empty: every document.")
    sources: list[str] = Field(default=[], description="Locations of sources; empty: every source.")
    only_failed: bool = Field(default=False, description="Only what failed, without waiting for its retry time.")
    force: bool = Field(default=False, description="Redo the selected documents even where nothing changed.")
    thorough: bool = Field(
        default=False,
        description="Compare, count and check everything again, not only what changed since the last run.",
    )
    deep: bool = Field(
        default=False,
        description="Hash every file again, and compute every keyword weight again; with `thorough`.",
    )
    at_rest: float = Field(
        default=0.0, ge=0, description="Seconds for which a file must not have changed; 0: any file is taken."
    )

    accept: bool = Field(
        default=False,
        description="Let documents go although their source loses more of them at once than `removals` lets pass.",
    )

    def selection(self, shard: Shard | None = None) -> Selection:
        """Return the selection as the plain type of the library.

        Args:
            shard: the shard that the run works on; None: a whole collection.
        """
        return Selection(
            tuple(self.documents),
            tuple(self.sources),
            self.only_failed,
            self.force,
            self.thorough,
            self.deep,
            self.accept,
            shard,
            self.at_rest,
        )

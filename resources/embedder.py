"""The embedders of a run: model processes that start before they are needed, and opened exports for few texts."""

from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
from psycopg import Connection

from sourcebook.embedding.embedder_pool import EmbedderPool
from sourcebook.errors import ModelError
from sourcebook.indexing.generations import wanted_embedding
from sourcebook.model.report import StageReport


@dataclass(frozen=True)
class Embedder:
    """The embedders of a run, as assets use them."""

    pool: EmbedderPool

    def start_early_for(
        self, connection: Connection, collection: str, home: Path, report: StageReport, *, outdated: int = 0
    ) -> None:
        """Begin to load a collection's model where a stage has found new or changed items.

        A model that cannot be found is reported by the stage that needs it.

        Args:
            connection: to the knowledge base.
            collection: name of the collection.
            home: the state folder.
            report: of the stage.
            outdated: documents that the index lacks already, as those of a generation that is to be built.
        """
        items = max(report.added + report.changed - report.extra.get("skipped", 0), outdated)
        if items > 0:
            with suppress(ModelError):
                self.pool.start_early(wanted_embedding(connection, collection), home, items)


def embedder_resource(lent: EmbedderPool | None = None) -> dg.ResourceDefinition:
    """Return the definition of the resource `embedder`.

    Args:
        lent: pool that outlives the run, which its owner closes; by default each run has a pool of its own.
    """

    def provide(context: dg.InitResourceContext) -> Iterator[Embedder]:
        with EmbedderPool() if lent is None else nullcontext(lent) as pool:
            yield Embedder(pool)
            for model, reason in pool.wait_for_exports().items():
                if context.log:
                    context.log.info(f"{model} is not exported for searches without torch: {reason}")

    return dg.ResourceDefinition(provide, description="Embedding models, loaded at most once a run.")

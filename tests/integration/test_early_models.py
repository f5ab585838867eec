"""A model begins to load when a run knows that it is needed, beside the stages before it."""

from dataclasses import replace
from pathlib import Path

from resources.embedder import Embedder
from sourcebook.config.collection import EmbeddingSettings
from sourcebook.embedding.embedder_pool import EmbedderPool
from sourcebook.model.report import StageReport
from tests.integration.stages import Stages


class NotedPool(EmbedderPool):
    """A pool that starts nothing, and notes for how many documents it was asked to."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []

    def start_early(self, settings: EmbeddingSettings, home: Path, items: int) -> None:
        self.asked.append(items)


def test_documents_that_a_generation_lacks_start_its_model(stages: Stages, tmp_path: Path) -> None:
    """A run that finds no new file loads the model for the documents that its new generation is built from."""
    stages.write("gauge.md", "# Tide gauge\n\nThe gauge is read twice a day.\n")
    stages.configure()
    pool = NotedPool()
    nothing, added = StageReport(unchanged=7), StageReport(added=9, extra={"skipped": 4})
    with stages.connection() as connection:
        for report, outdated in ((nothing, 0), (nothing, 2_000), (added, 0), (replace(added), 3)):
            Embedder(pool).start_early_for(connection, stages.collection, tmp_path, report, outdated=outdated)
    assert pool.asked == [2_000, 5, 5]

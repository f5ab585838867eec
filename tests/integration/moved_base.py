"""A small base that is exported and imported, with questions that are asked before and after."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")
from sourcebook.model.report import StageReport
from sourcebook.stages.index_upkeep import maintain_index
from sourcebook.transfer.export import Exported, export_collections
from tests.integration.stages import Stages

TEXTS = {
    "power.md": "---\ntitle: Power supply\ntags: [policy]\ndate: 2024-03-01\n---\n\n# Batteries\n\n"
    "The batteries last three days in winter.\n\n## Charging\n\nCharge them with the diesel generator.\n",
    "tides/gauge.md": "# Tide gauge\n\nThe gauge is read twice a day, at high and at low water.\n",
    "tides/pegel.md": "# Der Pegel\n\nDer Pegel wird zweimal am Tag abgelesen, bei Hochwasser und bei Niedrigwasser.\n",
    "../odd": "",
    "name with spaces & ünïcödé.txt": "Seals rest on the steps of the pier in February.\n",
}

QUESTIONS = (
    "How long do the batteries last?",
    "high water",
    "Pegel ablesen",
    "seals",
    "diesel -winter",
    "nothing of it",
)


def ingest(stages: Stages) -> dict[str, StageReport]:
    """Run every stage, and the upkeep of the index."""
    reports = stages.run()
    with stages.connection() as connection:
        maintain_index(connection, stages.generation)
    return reports


def export(stages: Stages, folder: Path, *formats: str) -> Exported:
    return export_collections(stages.database, folder, [stages.collection], formats or ("markdown", "parquet"))


def hits(stages: Stages, *modes: str) -> list[Any]:
    """Return everything that a person sees of the results of the questions."""
    return [
        [
            (hit.uri, hit.title, hit.heading_path, hit.text, hit.score, hit.vector_rank, hit.keyword_rank, hit.version)
            for hit in stages.search(question, mode=mode, limit=20)
        ]
        for question in QUESTIONS
        for mode in modes or ("hybrid", "vector", "keyword")
    ]


def fill(stages: Stages) -> Stages:
    """Ingest the texts, and remove a file that was there before."""
    for name, text in TEXTS.items():
        if text:
            stages.write(name, text)
    stages.write("gone.md", "# Gone\n\nThis file leaves.\n")
    stages.configure()
    stages.run()
    (stages.root / "gone.md").unlink()
    ingest(stages)
    return stages

"""Recordings of a collection, and their windows."""

import json
import shutil
from pathlib import Path

from tests.integration.stages import Stages

SETTINGS = {"engine": "faster-whisper"}


def configure(stages: Stages, **speech: object) -> None:
    settings = {"files": [{"root": f"./{stages.root.name}"}], "speech": {**SETTINGS, **speech}}
    stages.configure(json.dumps({"collections": {stages.collection: settings}}))


def put(stages: Stages, name: str, source: Path) -> Path:
    path = stages.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, path)
    stages.settle(path)
    return path


def windows(stages: Stages) -> list[tuple[float, float]]:
    rows = stages.rows("SELECT starts_at, ends_at FROM transcript_window ORDER BY sound_sha256, starts_at")
    return [(row["starts_at"], row["ends_at"]) for row in rows]

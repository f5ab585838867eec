"""A folder in Sourcebook, LlamaIndex and CocoIndex: processor time until it is searchable, and after changes.

`BENCH_PEERS` names the Python of an environment with llama-index-core, llama-index-embeddings-huggingface, cocoindex
and sqlite-vec. All embed with the same model; Sourcebook also writes what keyword search needs.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks.harness.bench import Bench
from benchmarks.harness.library import child_environment
from benchmarks.harness.measure import run as run_program
from benchmarks.harness.report import Row
from sourcebook.embedding.model import find_model
from sourcebook.embedding.weights import BUNDLED_NAME

_PEERS = Path(__file__).parents[1] / "peers"
_STEPS = ("first ingest", "nothing changed", "one edit", "ten deletions")


def run(bench: Bench) -> list[Row]:
    """Take the same folder in with each, and change it."""
    library = bench.filled("others", precision="float32")
    paths = library.paths()
    model = str(find_model(BUNDLED_NAME).folder)
    ways: dict[str, Callable[[], float]] = {"Sourcebook": lambda: library.ingest().measurement.processor}
    if peers := os.environ.get("BENCH_PEERS"):
        for name in ("llamaindex", "cocoindex"):
            state = bench.folder / name
            state.mkdir()
            command = [peers, str(_PEERS / f"{name}_folder.py"), str(library.files), str(state), model]
            environment = {**child_environment(), "COCOINDEX_DISABLE_USAGE_TRACKING": "1", "HF_HUB_OFFLINE": "1"}
            ways[name] = partial(_processor, command, environment)
    rows = []
    for step in _STEPS:
        if step == "one edit":
            paths[0].write_text(paths[0].read_text("utf-8") + "\n\nThe gauge was read at noon.\n", encoding="utf-8")
        elif step == "ten deletions":
            for path in paths[1:11]:
                path.unlink()
        rows += [Row(f"{step}, {name}, processor time", way(), "s") for name, way in ways.items()]
    bench.drop(library)
    return rows


def _processor(command: Sequence[str], environment: Mapping[str, str]) -> float:
    return run_program(command, environment).processor


def _seconds(command: list[str], environment: Mapping[str, str]) -> float:
    return run_program(command, environment).processor

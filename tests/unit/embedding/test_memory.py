"""Memory of embedding models: what is free, and what a run does where it is too little."""

from pathlib import Path

import pytest

from sourcebook.embedding.engine import needed_memory, wait_for_memory
from sourcebook.embedding.model import EmbeddingModel
from sourcebook.embedding.opening import open_embedder
from sourcebook.errors import ModelError
from sourcebook.processes.machine_memory import free_memory

GIGABYTE = 1_000_000_000


def test_the_least_of_machine_and_container_is_free(tmp_path: Path) -> None:
    """Caches that can be dropped count as free; without a limit, or without a word of the system, the other counts."""
    meminfo, limit, use, statistics = (tmp_path / name for name in ("meminfo", "max", "current", "stat"))
    assert free_memory(meminfo, limit, use, statistics) is None
    meminfo.write_text("MemTotal: 8000000 kB\nMemFree: 100 kB\nMemAvailable: 3000000 kB\n")
    limit.write_text("max\n")
    use.write_text("5\n")
    assert free_memory(meminfo, limit, use, statistics) == 3_000_000 * 1_024
    limit.write_text("2000000000\n")
    use.write_text("1500000000\n")
    assert free_memory(meminfo, limit, use, statistics) == 500_000_000


def test_files_that_a_container_has_read_are_free_memory(tmp_path: Path) -> None:
    """The kernel counts them into the container's memory until something needs it: an ingest reads many."""
    meminfo, limit, use, statistics = (tmp_path / name for name in ("meminfo", "max", "current", "stat"))
    limit.write_text("2000000000\n")
    use.write_text("1900000000\n")
    statistics.write_text("anon 400000000\ninactive_file 1000000000\nslab_reclaimable 200000000\n")
    assert free_memory(meminfo, limit, use, statistics) == 1_300_000_000
    statistics.write_text("inactive_file\n")
    assert free_memory(meminfo, limit, use, statistics) == 100_000_000


def test_a_run_waits_for_memory() -> None:
    """It goes on as soon as there is enough."""
    free = iter([100, 200, 900])
    wait_for_memory("a model", 800, seconds=30, measure=lambda: next(free))
    assert next(free, None) is None
    wait_for_memory("a model", 800, seconds=0, measure=lambda: None)


def test_a_run_stops_where_memory_stays_too_little(model: EmbeddingModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence with both amounts and what to do, before anything is loaded."""
    with pytest.raises(ModelError, match=r"'a model' needs 0.80 GB of memory, and 0.10 GB are free; waited 0 s"):
        wait_for_memory("a model", 800_000_000, seconds=0, measure=lambda: 100_000_000)
    asked = []

    def too_little(name: str, needed: int) -> None:
        asked.append((name, needed))
        raise ModelError("too little")

    monkeypatch.setattr("sourcebook.embedding.engine.wait_for_memory", too_little)
    with pytest.raises(ModelError, match="too little"):
        open_embedder(model, "float32", "cpu", Path("nowhere"))
    assert asked == [("all-MiniLM-L6-v2", needed_memory(90_868_376, "onnxruntime"))]

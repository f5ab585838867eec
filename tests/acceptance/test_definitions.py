"""The code location: what it defines, and what loading it costs."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.acceptance.processes import free_port
from tests.acceptance.workplace import Json
from tests.checkout import CHECKOUT

GRAPH = {
    "assets": {
        "chunks": {"deps": ["documents"], "group": "index", "partitions": "collection"},
        "configuration": {"deps": [], "group": "sources", "partitions": None},
        "crawled_pages": {"deps": ["source_sites"], "group": "sources", "partitions": "collection"},
        "documents": {
            "deps": ["crawled_pages", "raw_files", "transcripts"],
            "group": "documents",
            "partitions": "collection",
        },
        "embeddings": {"deps": ["chunks"], "group": "index", "partitions": "collection"},
        "index_upkeep": {"deps": ["search_index"], "group": "index", "partitions": "collection"},
        "raw_files": {"deps": ["source_folders", "source_records"], "group": "sources", "partitions": "collection"},
        "search_index": {"deps": ["embeddings"], "group": "index", "partitions": "collection"},
        "source_folders": {"deps": ["configuration"], "group": "sources", "partitions": "collection"},
        "source_records": {"deps": ["configuration"], "group": "sources", "partitions": "collection"},
        "source_sites": {"deps": ["configuration"], "group": "sources", "partitions": "collection"},
        "transcripts": {"deps": ["raw_files"], "group": "documents", "partitions": "collection"},
    },
    "checks": [
        "chunks:every_character_is_in_a_passage collection",
        "configuration:configuration_is_valid None",
        "documents:front_matter_is_read collection",
        "documents:little_text_is_left_out collection",
        "documents:no_failed_items collection",
        "documents:types_keep_their_promises collection",
        "embeddings:model_knows_the_languages collection",
        "index_upkeep:next_generation_is_ready collection",
        "search_index:every_live_document_is_searchable collection",
        "search_index:no_orphan_or_null_vector collection",
        "search_index:nothing_is_damaged collection",
        "search_index:search_is_good_enough collection",
        "source_folders:folders_are_fresh None",
        "source_sites:sites_are_fresh None",
    ],
    "jobs": {
        "ingest": {"partitions": "collection", "executor": "in_process"},
        "retention": {"partitions": None, "executor": "in_process"},
    },
    "sensors": {
        "changed_files": {"seconds": 10, "status": "RUNNING"},
        "changed_records": {"seconds": 5, "status": "RUNNING"},
        "collections": {"seconds": 15, "status": "RUNNING"},
        "due_pages": {"seconds": 30, "status": "RUNNING"},
        "moved_repositories": {"seconds": 30, "status": "RUNNING"},
        "requested_work": {"seconds": 5, "status": "RUNNING"},
    },
    "schedules": {
        "nightly": {"cron": "0 2 * * *", "zone": "UTC", "job": "ingest", "status": "RUNNING"},
        "nightly_retention": {"cron": "30 3 * * *", "zone": "UTC", "job": "retention", "status": "RUNNING"},
        "weekly": {"cron": "0 4 * * 0", "zone": "UTC", "job": "ingest", "status": "RUNNING"},
    },
    "resources": ["embedder", "knowledge", "progress", "selection"],
}


@pytest.fixture(scope="module")
def nowhere() -> dict[str, str]:
    """An environment whose database does not answer."""
    url = f"postgresql://nobody@127.0.0.1:{free_port()}/nothing"
    return {**os.environ, "SOURCEBOOK_DATABASE_URL": url, "SOURCEBOOK_DAGSTER_DATABASE_URL": url}


@pytest.fixture(scope="module")
def described(nowhere: dict[str, str]) -> Json:
    """What the code location defines, as a process sees it that imports it alone."""
    command = [sys.executable, "-m", "tests.acceptance.describe_definitions"]
    done = subprocess.run(command, cwd=CHECKOUT, env=nowhere, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    told: Json = json.loads(done.stdout)
    return told


def test_the_asset_graph_is_what_was_reviewed(described: Json) -> None:
    """A changed key, edge, partition, check, job, sensor or schedule is a change to this file."""
    assert {name: described[name] for name in GRAPH} == GRAPH


def test_loading_the_code_location_loads_no_model_no_parser_and_no_server(described: Json) -> None:
    assert described["loaded"] == []


@pytest.mark.alone
def test_the_code_location_is_valid_with_no_database_running(nowhere: dict[str, str], tmp_path: Path) -> None:
    """It takes less than 5 s where nothing else runs; the bound leaves room for a busy machine."""
    environment = {**nowhere, "DAGSTER_HOME": str(tmp_path)}
    started = time.perf_counter()
    done = subprocess.run(
        [str(Path(sys.executable).with_name("dagster")), "definitions", "validate", "-w", "workspace.yaml"],
        cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    seconds = time.perf_counter() - started
    print(f"\ndagster definitions validate: {seconds:.1f} s")
    assert done.returncode == 0, done.stderr
    assert seconds < 15


@pytest.mark.alone
def test_importing_the_library_takes_less_than_0_3_seconds() -> None:
    """Measured within a process, best of five: what a program pays for the line, whatever else the machine does."""
    code = "import time; t = time.perf_counter(); import sourcebook; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", code]
    times = [float(subprocess.check_output(command, cwd=CHECKOUT, text=True, timeout=60)) for _ in range(5)]
    print(f"\nimport sourcebook: {min(times):.3f} s")
    assert min(times) < 0.3


@pytest.mark.alone
def test_asking_for_the_knowledge_base_takes_less_than_0_3_seconds_too() -> None:
    """The public names are imported when they are first asked for; torch and Dagster are not among what that takes."""
    code = (
        "import sys, time; t = time.perf_counter(); from sourcebook import KnowledgeBase; s = time.perf_counter() - t; "
        "assert not {'torch', 'dagster', 'docling'} & set(sys.modules); print(s)"
    )
    command = [sys.executable, "-c", code]
    times = [float(subprocess.check_output(command, cwd=CHECKOUT, text=True, timeout=60)) for _ in range(5)]
    assert min(times) < 0.3


def test_imports_run_one_way() -> None:
    """The contracts in pyproject.toml hold: rooms in layers, no circles, no Dagster in the library."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout

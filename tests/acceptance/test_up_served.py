"""One `sourcebook up` for several promises: metrics and JSON lines, requests, a killed database, a closed terminal.

`test_up_kills.py` kills the rest.
"""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from benchmarks.harness.kills.processes import family
from benchmarks.harness.kills.up import Up
from orchestration.definitions import defs
from sourcebook import KnowledgeBase
from sourcebook.contract.work import WorkRequest
from tests.acceptance.processes import free_port
from tests.acceptance.test_up import servers_of
from tests.acceptance.workplace import COMMAND, Workplace, temporary_workplace
from tests.waiting import wait_until

SECONDS = 240.0
"""Seconds for a step on a busy machine."""
SENSORS = {sensor.name for sensor in defs.get_repository_def().sensor_defs}


def _values(address: str) -> defaultdict[str, dict[tuple[str, ...], float]]:
    with urllib.request.urlopen(address, timeout=60) as answer:  # noqa: S310 - loopback
        text = answer.read().decode()
    found: defaultdict[str, dict[tuple[str, ...], float]] = defaultdict(dict)
    for metric in text_string_to_metric_families(text):
        for sample in metric.samples:
            found[sample.name][tuple(sample.labels.values())] = sample.value
    return found


def _json_lines(folder: Path) -> list[dict[str, object]]:
    """Return the JSON lines of every log and every run's captured output."""
    lines = [
        line
        for file in [*folder.glob("*.log"), *folder.rglob("*.err")]
        for line in file.read_text(errors="replace").splitlines()
    ]
    return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]


@dataclass(frozen=True)
class Served:
    """A running `up` over one collection with one file."""

    workplace: Workplace
    up: Up
    metrics_port: int
    ready: dict[str, str]
    """The line that `up` prints when it is ready."""
    errors: Path
    """What it prints to stderr."""


@pytest.fixture(scope="module")
def served(exported_model: Path) -> Iterator[Served]:
    """An `up` that the tests of this file share, in their order; the last one ends it."""
    with temporary_workplace() as workplace:
        workplace.begin_prepared(exported_model)
        workplace.configure(handbook="docs")
        workplace.write("docs/a.md", "# Flags\n\nThe flag is green.\n")
        errors, port, metrics_port = workplace.folder / "errors.txt", free_port(), free_port()
        arguments = ["up", "--port", str(port), "--metrics-port", str(metrics_port), "--json"]
        environment = {**workplace.environment, "SOURCEBOOK_LOG_FORMAT": "json"}
        with (
            errors.open("wb") as told,
            subprocess.Popen(
                [COMMAND, *arguments],
                cwd=workplace.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=told,
                text=True,
            ) as process,
        ):
            try:
                assert process.stdout is not None
                line = process.stdout.readline()
                assert line, errors.read_text()
                yield Served(workplace, Up(process, port), metrics_port, json.loads(line), errors)
            finally:
                for each in family(process.pid) if process.poll() is None else []:
                    with suppress(psutil.NoSuchProcess):
                        each.kill()


@pytest.fixture
def knowledge(served: Served) -> Iterator[KnowledgeBase]:
    """The knowledge base that `up` serves, in this process, once the watch has begun."""
    watched = served.workplace.home / "dagster" / "watch.log"
    wait_until(lambda: watched.exists() and "watching " in watched.read_text(), seconds=SECONDS, what="the watch")
    with KnowledgeBase.connect(home=served.workplace.home) as knowledge:
        yield knowledge


def ended(knowledge: KnowledgeBase, number: int) -> WorkRequest:
    """Wait for the end of a request."""

    def found() -> WorkRequest | None:
        request = knowledge.work(number)
        return request if request is not None and request.has_ended else None

    request = wait_until(found, seconds=SECONDS, what=f"request {number} has ended")
    assert request is not None
    return request


@pytest.mark.timeout(600)
def test_a_run_of_the_daemon_is_counted_logged_and_seen_by_a_monitor(served: Served) -> None:
    metrics = f"http://127.0.0.1:{served.metrics_port}/metrics"
    assert served.ready["metrics"] == metrics

    def is_ingested() -> bool:
        found = _values(metrics)
        return (
            found["sourcebook_documents"].get(("handbook", "ready")) == 1
            and found["sourcebook_stage_items_total"].get(("added", "search_index")) == 1
            and {sensor for (sensor,) in found["sourcebook_sensor_tick_age_seconds"]} == SENSORS
        )

    wait_until(is_ingested, seconds=300, every=0.5, what="a run of the daemon is counted")
    found = _values(metrics)
    assert found["sourcebook_up"] == {(): 1}
    assert found["sourcebook_embedding_calls_total"] == {("passages",): 1}
    assert found["sourcebook_sensor_failing"] == dict.fromkeys(found["sourcebook_sensor_failing"], 0)
    assert found["sourcebook_daemon_heartbeat_age_seconds"][("SENSOR",)] < 300
    assert served.workplace.json("status", "--check")["state"] == "ok"

    def published() -> list[dict[str, object]]:
        lines = _json_lines(served.workplace.home / "dagster")
        return [
            line for line in lines if line.get("logger") == "sourcebook.stages" and line.get("stage") == "search_index"
        ]

    line = wait_until(published, what="a JSON line about the publication")[0]
    assert line["collection"] == "handbook"
    assert len(str(line["run"])) == 36


def test_small_requests_are_done_at_once(served: Served, knowledge: KnowledgeBase) -> None:
    """By the watch."""
    ended(knowledge, knowledge.request_work("handbook").id)  # there may still be the first file to take in
    begun = time.monotonic()
    small = ended(knowledge, knowledge.request_work("handbook").id)
    print(f"\na small request took {time.monotonic() - begun:.1f} s")
    assert (small.state, small.worker != "dagster") == ("succeeded", True)


def test_others_are_done_by_runs_and_a_cancelled_one_ends_with_its_run(
    served: Served, knowledge: KnowledgeBase
) -> None:
    """Also one that waits for its run: that is cancelled with it."""
    number = knowledge.request_work("handbook", force=True).id

    def is_claimed() -> bool:
        request = knowledge.work(number)
        return request is not None and request.state == "running"

    wait_until(is_claimed, seconds=SECONDS, what="it is claimed")
    knowledge.cancel_work(number)
    cancelled = ended(knowledge, number)
    assert cancelled.state == "cancelled"
    # Its run is there before that of a later request.
    forced = ended(knowledge, knowledge.request_work("handbook", force=True).id)
    assert (forced.state, forced.worker, forced.stage is not None) == ("succeeded", "dagster", True)
    assert forced.run_id is not None
    assert [each["id"] for each in served.workplace.json("requests", str(forced.id))["requests"]] == [forced.id]
    with psycopg.connect(knowledge.database.dagster_url(), autocommit=True) as connection:
        states = (
            "SELECT status FROM runs JOIN run_tags USING (run_id) WHERE key = 'sourcebook/work_request' AND value = %s"
        )

        def found() -> set[str]:
            return {status for (status,) in connection.execute(states, (str(number),))}

        wait_until(lambda: found() <= {"CANCELED", "FAILURE", "SUCCESS"}, seconds=SECONDS, what="its run has ended")
        assert found() == {"CANCELED"}


@pytest.mark.timeout(900)
def test_a_killed_database_is_started_again_while_a_second_up_is_refused(served: Served) -> None:
    """After `kill -9` of the postmaster sensors are evaluated again, and the restart is told."""
    data_folder = served.workplace.home / "postgres"
    said = served.workplace.run("up", "--port", str(free_port()), code=1)
    assert f"another `sourcebook up` of this state folder is running (process {served.up.process.pid} since 20" in said

    (former,) = servers_of(data_folder)
    former.kill()
    wait_until(lambda: set(servers_of(data_folder)) - {former}, seconds=SECONDS, what="another database server")
    time_of_restart = time.time()
    wait_until(lambda: served.up.sensors_work_since(time_of_restart), seconds=SECONDS, what="sensors are evaluated")
    told = "the embedded database ended; it is started again"
    wait_until(lambda: told in served.errors.read_text(), what="the restart is told")


def test_a_closed_terminal_stops_all(served: Served) -> None:
    """SIGHUP ends everything, the database included, without a traceback."""
    services = served.up.services()
    assert len(services) > 3
    os.kill(served.up.process.pid, signal.SIGHUP)
    served.up.process.communicate(timeout=120)
    assert served.up.process.returncode == 0, served.errors.read_text()
    assert "Traceback" not in served.errors.read_text()
    _, alive = psutil.wait_procs(services, timeout=60)
    assert not alive
    assert not servers_of(served.workplace.home / "postgres")


def test_a_chosen_port_of_the_metrics_that_is_taken_is_told(workplace: Workplace) -> None:
    workplace.configure(handbook="docs")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = workplace.run("up", "--port", str(free_port()), "--metrics-port", str(port), code=1)
    assert f"the metrics cannot be served on port {port}" in said
    assert not list((workplace.home / "dagster").glob("*_server.log")), "no service was started"

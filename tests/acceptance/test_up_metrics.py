"""`sourcebook up` serves metrics, its daemon gives signs of life to monitors, and its runs log JSON lines."""

import json
import signal
import socket
import urllib.request
from collections import defaultdict
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from orchestration.definitions import defs
from tests.acceptance.processes import free_port
from tests.acceptance.workplace import Workplace
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("model_was_exported")
SENSORS = {sensor.name for sensor in defs.get_repository_def().sensor_defs}


def _values(address: str) -> defaultdict[str, dict[tuple[str, ...], float]]:
    with urllib.request.urlopen(address, timeout=60) as answer:  # noqa: S310 - loopback
        text = answer.read().decode()
    found: defaultdict[str, dict[tuple[str, ...], float]] = defaultdict(dict)
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
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


@pytest.mark.timeout(600)
def test_a_run_of_the_daemon_is_counted_logged_and_seen_by_a_monitor(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workplace.configure(handbook="docs")
    workplace.write("docs/a.md", "# Flags\n\nThe flag is green.\n")
    port = str(free_port())
    environment = {**workplace.environment, "SOURCEBOOK_LOG_FORMAT": "json"}
    monkeypatch.setattr(Workplace, "environment", environment)
    with workplace.start("up", "--port", str(free_port()), "--metrics-port", port, "--json") as process:
        try:
            assert process.stdout is not None
            metrics = json.loads(process.stdout.readline())["metrics"]
            assert metrics == f"http://127.0.0.1:{port}/metrics"

            def is_ingested() -> bool:
                found = _values(metrics)
                return (
                    found["sourcebook_documents"].get(("handbook", "ready")) == 1
                    and found["sourcebook_stage_items_total"].get(("added", "search_index")) == 1
                    and {sensor for (sensor,) in found["sourcebook_sensor_tick_age_seconds"]} == SENSORS
                )

            wait_until(is_ingested, seconds=300, what="a run of the daemon is counted")
            found = _values(metrics)
            assert found["sourcebook_up"] == {(): 1}
            assert found["sourcebook_embedding_calls_total"] == {("passages",): 1}
            assert found["sourcebook_sensor_failing"] == dict.fromkeys(found["sourcebook_sensor_failing"], 0)
            assert found["sourcebook_daemon_heartbeat_age_seconds"][("SENSOR",)] < 300
            assert workplace.json("status", "--check")["state"] == "ok"
        finally:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
    assert process.returncode == 0, out + err
    lines = [line for line in _json_lines(workplace.home / "dagster") if line.get("logger") == "sourcebook.stages"]
    published = [line for line in lines if line.get("stage") == "search_index"]
    assert published
    assert published[0]["collection"] == "handbook"
    assert len(str(published[0]["run"])) == 36


def test_a_chosen_port_of_the_metrics_that_is_taken_is_told(workplace: Workplace) -> None:
    workplace.configure(handbook="docs")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = workplace.run("up", "--port", str(free_port()), "--metrics-port", str(port), code=1)
    assert f"the metrics cannot be served on port {port}" in said
    assert not list((workplace.home / "dagster").glob("*_server.log")), "no service was started"

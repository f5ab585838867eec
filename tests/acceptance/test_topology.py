"""The deployed topology: code server, web server, daemon and metrics as processes of their own on one PostgreSQL."""

import json
import shutil
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from sourcebook import KnowledgeBase
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.model.shard import Shard
from tests.acceptance.processes import free_port, listens, service
from tests.acceptance.workplace import Json, Workplace
from tests.checkout import CHECKOUT
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("model_was_exported")
ASSETS = (
    "raw_files",
    "crawled_pages",
    "transcripts",
    "documents",
    "chunks",
    "embeddings",
    "search_index",
    "index_upkeep",
)
SECONDS = 300.0

LAUNCH = """
mutation ($parameters: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $parameters) {
    __typename
    ... on LaunchBackfillSuccess { backfillId }
    ... on PythonError { message }
  }
}
"""
BACKFILL = """
query ($id: String!) {
  partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status error { message } } }
}
"""
RUNS = """
query ($tags: [ExecutionTag!]) {
  runsOrError(filter: {tags: $tags}) { ... on Runs { results { runId status tags { key value } } } }
}
"""
MATERIALIZED = """
query ($asset: String!, $partition: String!) {
  assetNodeOrError(assetKey: {path: [$asset]}) {
    ... on AssetNode {
      latestMaterializationByPartition(partitions: [$partition]) {
        runId
        metadataEntries { label ... on MarkdownMetadataEntry { mdStr } ... on TextMetadataEntry { text } }
      }
    }
  }
}
"""
SENSORS = """
query {
  sensorsOrError(repositorySelector: {repositoryName: "__repository__", repositoryLocationName: "sourcebook"}) {
    ... on Sensors { results { id name } }
  }
}
"""
STOP = "mutation ($id: String!) { stopSensor(id: $id) { __typename } }"
PARTITIONS = """
query { assetNodeOrError(assetKey: {path: ["search_index"]}) { ... on AssetNode { partitionKeys } } }
"""


@dataclass(frozen=True)
class Deployment:
    """A running deployment."""

    workplace: Workplace
    port: int
    metrics_port: int

    def ask(self, query: str, **variables: Any) -> Json:
        """Ask the web server's GraphQL."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/graphql",
            json.dumps({"query": query, "variables": variables}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            told = json.load(answer)
        assert "errors" not in told, told
        data: Json = told["data"]
        return data

    def stop_sensor(self, name: str) -> None:
        """Have a sensor start no further runs."""
        (number,) = [each["id"] for each in self.ask(SENSORS)["sensorsOrError"]["results"] if each["name"] == name]
        assert self.ask(STOP, id=number)["stopSensor"]["__typename"] == "StopSensorMutationResult"

    def materialized(self, asset: str, partition: str) -> tuple[str, dict[str, str]]:
        """Return the run that made a partition last, and the texts of its metadata."""
        node = self.ask(MATERIALIZED, asset=asset, partition=partition)["assetNodeOrError"]
        (latest,) = node["latestMaterializationByPartition"]
        entries = latest["metadataEntries"]
        return latest["runId"], {each["label"]: each.get("mdStr") or each.get("text") or "" for each in entries}

    def runs(self, **tags: str) -> list[Json]:
        wanted = [{"key": key.replace("__", "/"), "value": value} for key, value in tags.items()]
        found: list[Json] = self.ask(RUNS, tags=wanted)["runsOrError"]["results"]
        return found


PARTITION_KEYS = ["handbook", "other:1of2", "other:2of2"]


def configure(workplace: Workplace, settings: str = "") -> None:
    """Write the two collections, of which one has two shards, with further settings."""
    workplace.configuration.write_text(
        "collections:\n"
        f"  handbook: {{files: [{{root: ./docs}}]{settings}}}\n"
        f"  other: {{files: [{{root: ./more}}], shards: 2{settings}}}\n"
    )


@pytest.fixture
def deployment(workplace: Workplace) -> Iterator[Deployment]:
    """PostgreSQL, then the other services, as docker-compose.yml starts them."""
    configure(workplace)
    workplace.write("docs/a.md", "# Flags\n\nThe flag is green.\n")
    workplace.write("more/b.md", "# Winds\n\nThe wind is strong.\n")
    server = EmbeddedServer(workplace.folder / "postgres")
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute("CREATE DATABASE sourcebook")
        connection.execute("CREATE DATABASE dagster")
    deployed = Workplace(workplace.folder, workplace.home, server.url("sourcebook"))
    dagster_home = workplace.folder / "dagster"
    dagster_home.mkdir()
    shutil.copy(CHECKOUT / "orchestration" / "dagster.yaml", dagster_home)
    code_port, web_port, metrics_port = free_port(), free_port(), free_port()
    environment = {
        **deployed.environment,
        "DAGSTER_HOME": str(dagster_home),
        "SOURCEBOOK_DAGSTER_DATABASE_URL": server.url("dagster"),
        "SOURCEBOOK_CONFIG": str(deployed.configuration),
        "SOURCEBOOK_CODE_HOST": "127.0.0.1",
        "SOURCEBOOK_CODE_PORT": str(code_port),
    }
    dagster = "orchestration.dagster_process"
    with ExitStack() as running:
        running.callback(server.close)

        def start(name: str, *arguments: str) -> None:
            log = workplace.folder / f"{name}.log"
            command = [sys.executable, "-m", *arguments]
            running.enter_context(service(command, cwd=CHECKOUT, environment=environment, log=log))

        start("code", dagster, "dagster", "api", "grpc", "-h", "127.0.0.1", "-p", str(code_port),
              "-m", "orchestration.definitions", "--location-name", "sourcebook")  # fmt: skip
        wait_until(lambda: listens(code_port), seconds=SECONDS, what="the code server listens")
        workspace = ("-w", "deploy/workspace.yaml")
        start("webserver", dagster, "dagster-webserver", "-h", "127.0.0.1", "-p", str(web_port), *workspace)
        start("daemon", dagster, "dagster-daemon", "run", *workspace)
        start("metrics", "sourcebook.metrics", "--metrics-port", str(metrics_port))
        wait_until(lambda: listens(web_port), seconds=SECONDS, what="the web server listens")
        wait_until(lambda: listens(metrics_port), seconds=SECONDS, what="the metrics are served")
        yield Deployment(deployed, web_port, metrics_port)


@pytest.mark.timeout(900)
def test_the_sensors_keep_a_deployment_true_and_a_backfill_builds_generations(deployment: Deployment) -> None:
    """Sensors take in a changed file; a backfill that a person launches takes in changed settings."""
    workplace = deployment.workplace
    wait_until(
        lambda: deployment.ask(PARTITIONS)["assetNodeOrError"]["partitionKeys"] == PARTITION_KEYS,
        seconds=SECONDS,
        what="the sensor `collections` made the partitions",
    )
    with KnowledgeBase.connect(workplace.database_url) as knowledge:

        def found(word: str) -> bool:
            return bool(knowledge.search(word, mode="keyword"))

        workplace.write("docs/a.md", "# Flags\n\nThe flag is white.\n")
        wait_until(lambda: found("white") and found("strong"), seconds=SECONDS, what="the change is searchable")
        assert not found("green")
    with urllib.request.urlopen(f"http://127.0.0.1:{deployment.metrics_port}/metrics", timeout=60) as answer:
        told = answer.read().decode()
    assert "\nsourcebook_up 1.0\n" in told
    assert 'sourcebook_documents{collection="handbook",state="ready"} 1.0' in told
    assert "sourcebook_daemon_heartbeat_age_seconds" in told
    (latest, *_) = deployment.runs(dagster__sensor_name="changed_files", dagster__partition="handbook")
    tags = {tag["key"]: tag["value"] for tag in latest["tags"]}
    assert tags["dagster/run_key"].startswith("handbook:"), "the run says which change set it took in"
    assert " to embed, " in tags["sourcebook/plan"], "the run says what it was to do"

    deployment.stop_sensor("changed_files")  # the backfill is to find the change
    configure(workplace, ", chunking: {tokens: 64}")
    launched = deployment.ask(
        LAUNCH,
        parameters={
            "assetSelection": [{"path": [asset]} for asset in ASSETS],
            "partitionNames": PARTITION_KEYS,
            "title": "both collections",
        },
    )["launchPartitionBackfill"]
    assert launched["__typename"] == "LaunchBackfillSuccess", launched
    backfill = launched["backfillId"]

    def over() -> bool:
        told = deployment.ask(BACKFILL, id=backfill)["partitionBackfillOrError"]
        assert told["status"] not in {"FAILED", "COMPLETED_FAILED", "CANCELED"}, told
        return bool(told["status"] == "COMPLETED_SUCCESS")

    wait_until(over, seconds=SECONDS, what="the backfill is complete")
    runs = deployment.runs(dagster__backfill=backfill)
    assert {run["status"] for run in runs} == {"SUCCESS"}
    done = {tag["value"] for run in runs for tag in run["tags"] if tag["key"] == "dagster/partition"}
    assert done == set(PARTITION_KEYS)
    check_generations(deployment, {run["runId"] for run in runs})
    # The code server ends when its runs have ended, however long they take.
    wait_until(lambda: not unfinished(deployment), seconds=SECONDS, what="the sensors' runs are over")
    assert {run["status"] for run in deployment.runs()} == {"SUCCESS"}


def check_generations(deployment: Deployment, runs: set[str]) -> None:
    """Assert that runs have built a generation of each collection and activated it, and that Dagster shows it."""
    with KnowledgeBase.connect(deployment.workplace.database_url) as knowledge:
        uri = (deployment.workplace.folder / "more/b.md").as_uri()  # in one of the two shards
        for collection, word in (("handbook", "white"), ("other", "strong")):
            new, old = knowledge.generations(collection)
            assert (new.state, new.chunking["tokens"], new.documents) == ("active", 64, 1)
            assert (old.state, old.chunking["tokens"]) == ("kept", 256)
            assert knowledge.search(word, collection, mode="keyword").generations == (new.id,)
            upkeeps = []
            for partition in [key for key in PARTITION_KEYS if Shard.of_key(key)[0] == collection]:
                run, shown = deployment.materialized("raw_files", partition)
                assert run in runs
                shard = Shard.of_key(partition)[1]
                is_empty = shard is not None and not shard.takes(uri)
                # The plan is the collection's: an empty shard that is the last to begin finds nothing left to do.
                assert shown["plan"].startswith(("1 settings changed; ", *["nothing to do; "] * is_empty))
                for asset in ("chunks", "embeddings", "search_index"):
                    run, shown = deployment.materialized(asset, partition)
                    assert run in runs
                    assert is_empty or shown["generations"] == f"{old.id} is active, {new.id} is being built"
                run, shown = deployment.materialized("index_upkeep", partition)
                assert run in runs
                upkeeps.append([line.split(" | ")[:2] for line in shown["generations"].splitlines()[2:]])
            # The last shard that ends activates.
            assert [[f"| {new.id}", "active"], [f"| {old.id}", "kept"]] in upkeeps


def unfinished(deployment: Deployment) -> list[Json]:
    return [run for run in deployment.runs() if run["status"] in {"QUEUED", "STARTING", "STARTED"}]

"""The deployed topology: code server, web server and daemon as processes of their own on one PostgreSQL."""

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
from tests.acceptance.processes import free_port, listens, service
from tests.acceptance.workplace import Json, Workplace
from tests.checkout import CHECKOUT
from tests.waiting import wait_until

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
PARTITIONS = """
query { assetNodeOrError(assetKey: {path: ["search_index"]}) { ... on AssetNode { partitionKeys } } }
"""


@dataclass(frozen=True)
class Deployment:
    """A running deployment."""

    workplace: Workplace
    port: int

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

    def runs(self, **tags: str) -> list[Json]:
        wanted = [{"key": key.replace("__", "/"), "value": value} for key, value in tags.items()]
        found: list[Json] = self.ask(RUNS, tags=wanted)["runsOrError"]["results"]
        return found


@pytest.fixture
def deployment(workplace: Workplace) -> Iterator[Deployment]:
    """PostgreSQL, then the code server, the web server and the daemon, as docker-compose.yml starts them."""
    workplace.configure(handbook="docs", other="more")
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
    code_port, web_port = free_port(), free_port()
    environment = {
        **deployed.environment,
        "DAGSTER_HOME": str(dagster_home),
        "SOURCEBOOK_DAGSTER_DATABASE_URL": server.url("dagster"),
        "SOURCEBOOK_CONFIG": str(deployed.configuration),
        "SOURCEBOOK_CODE_HOST": "127.0.0.1",
        "SOURCEBOOK_CODE_PORT": str(code_port),
    }
    python = [sys.executable, "-m"]
    with ExitStack() as running:
        running.callback(server.close)

        def start(name: str, *command: str) -> None:
            log = workplace.folder / f"{name}.log"
            running.enter_context(service([*python, *command], cwd=CHECKOUT, environment=environment, log=log))

        start("code", "dagster", "api", "grpc", "-h", "127.0.0.1", "-p", str(code_port),
              "-m", "orchestration.definitions", "--location-name", "sourcebook")  # fmt: skip
        wait_until(lambda: listens(code_port), seconds=SECONDS, what="the code server listens")
        start("webserver", "dagster_webserver", "-h", "127.0.0.1", "-p", str(web_port), "-w", "deploy/workspace.yaml")
        start("daemon", "dagster._daemon", "run", "-w", "deploy/workspace.yaml")
        wait_until(lambda: listens(web_port), seconds=SECONDS, what="the web server listens")
        yield Deployment(deployed, web_port)


@pytest.mark.timeout(900)
def test_the_sensors_keep_a_deployment_true_and_a_person_backfills_it(deployment: Deployment) -> None:
    workplace = deployment.workplace
    wait_until(
        lambda: deployment.ask(PARTITIONS)["assetNodeOrError"]["partitionKeys"] == ["handbook", "other"],
        seconds=SECONDS,
        what="the sensor `collections` made the partitions",
    )
    with KnowledgeBase.connect(workplace.database_url) as knowledge:

        def found(word: str) -> bool:
            return bool(knowledge.search(word, mode="keyword"))

        workplace.write("docs/a.md", "# Flags\n\nThe flag is white.\n")
        wait_until(lambda: found("white") and found("strong"), seconds=SECONDS, what="the change is searchable")
        assert not found("green")
    (latest, *_) = deployment.runs(dagster__sensor_name="changed_files", dagster__partition="handbook")
    tags = {tag["key"]: tag["value"] for tag in latest["tags"]}
    assert tags["dagster/run_key"].startswith("handbook:"), "the run says which change set it took in"

    launched = deployment.ask(
        LAUNCH,
        parameters={
            "assetSelection": [{"path": [asset]} for asset in ASSETS],
            "partitionNames": ["handbook", "other"],
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
    assert done == {"handbook", "other"}
    # The code server ends when its runs have ended, however long they take.
    wait_until(lambda: not unfinished(deployment), seconds=SECONDS, what="the sensors' runs are over")
    assert {run["status"] for run in deployment.runs()} == {"SUCCESS"}


def unfinished(deployment: Deployment) -> list[Json]:
    return [run for run in deployment.runs() if run["status"] in {"QUEUED", "STARTING", "STARTED"}]

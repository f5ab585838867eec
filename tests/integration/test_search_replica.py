"""Searches on a real streaming replica: how far it is behind, without it, and too late."""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from prometheus_client import CollectorRegistry, generate_latest
from psycopg.conninfo import conninfo_to_dict

from sourcebook.client import RemoteKnowledgeBase
from sourcebook.database.embedded import EmbeddedServer, programs_folder
from sourcebook.database.replica import Replica, ReplicaSettings, replica_state
from sourcebook.database.server_account import ServerAccount
from sourcebook.errors import ConfigurationError, DatabaseUnavailableError, ReplicaError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.metrics.process import ReplicaCollector
from sourcebook.model.access import Grant
from sourcebook.server.mcp.arguments import ContextArguments, SearchArguments
from sourcebook.server.mcp.tools.context import get_context
from sourcebook.server.mcp.tools.search import search_documents
from tests.integration.cli.command import run
from tests.integration.http_server import serving
from tests.integration.stages import Stages
from tests.memory_folder import memory_folder
from tests.waiting import wait_until

WRITTEN = "SELECT set_config('synchronous_commit', 'on', false), pg_logical_emit_message(true, 'test', 'written')"
"""Has all commits so far written to the log."""


@pytest.fixture(scope="module")
def standby(server: EmbeddedServer) -> Iterator[EmbeddedServer]:
    """A second server that replays the log of the first one."""
    parent = Path(tempfile.mkdtemp(prefix="sourcebook-test-", dir=memory_folder())).resolve()
    parent.chmod(0o755)  # PostgreSQL is another user where these tests are root
    folder = parent / "standby"
    folder.mkdir(0o700)
    account = ServerAccount.find()
    account.own(folder)
    backup = [str(programs_folder() / "bin" / "pg_basebackup"), "-D", str(folder), "-R", "-c", "fast", "--no-sync"]
    with tempfile.TemporaryFile() as output:
        copying = account.start([*backup, "-d", server.url("postgres")], output)
        copying.wait(120)
        output.seek(0)
        assert copying.returncode == 0, output.read()
    replica = EmbeddedServer(folder)
    yield replica
    replica.close()
    shutil.rmtree(parent, ignore_errors=True)


@pytest.fixture
def on_standby(stages: Stages, standby: EmbeddedServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of this test's database on the replica, which has replayed a published document."""
    stages.configure()
    stages.write("tides.md", "# Tides\n\nThe gauge of the harbour is read every hour.")
    stages.run()
    on(stages.database.url, WRITTEN)  # the tests' server writes commits a moment later
    url = standby.url(str(conninfo_to_dict(stages.database.url)["dbname"]))
    monkeypatch.setenv("SOURCEBOOK_SEARCH_URL", url)
    wait_until(lambda: behind(stages) == 0.0)
    return url


def behind(stages: Stages) -> float | None:
    state = replica_state(stages.database)
    assert state is not None
    return state.seconds_behind


def on(url: str, statement: str) -> Any:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(statement).fetchone()


def opened(stages: Stages) -> KnowledgeBase:
    """A knowledge base that reads the environment anew."""
    return KnowledgeBase(stages.database, query_embedder=stages.embedder)


def pause(url: str) -> None:
    """Let the replica replay no more."""
    on(url, "SELECT pg_wal_replay_pause()")
    wait_until(lambda: on(url, "SELECT pg_get_wal_replay_pause_state()") == ("paused",))


def test_searches_read_the_replica_and_say_how_far_it_is_behind(stages: Stages, on_standby: str) -> None:
    """Every kind of search works there; what the primary has published since is found when it is replayed."""
    with opened(stages) as knowledge:
        for mode in ("hybrid", "vector", "keyword"):
            found = knowledge.search("harbour gauge", mode=mode, explain=True, facets=True, typos=True)
            assert found[0].title == "Tides"
            assert 0.0 <= found.as_dict()["seconds_behind"] < 60.0
        assert knowledge.similar(stages.uri("tides.md")).seconds_behind is not None
        for is_cached in (False, True):
            made = knowledge.context("harbour gauge")
            assert "gauge" in made.text
            assert made.is_cached is is_cached
            assert 0.0 <= made.as_dict()["seconds_behind"] < 60.0
        assert knowledge.replica is not None
        assert knowledge.replica.pool.check_outs > 4
        pause(on_standby)
        stages.write("wind.md", "# Wind\n\nAn anemometer measures the speed.")
        stages.run()
        on(stages.database.url, WRITTEN)
        assert not len(knowledge.search("anemometer", mode="keyword"))
    with opened(stages) as knowledge:
        late = knowledge.search("anemometer", mode="keyword")
        assert not len(late)
        assert late.seconds_behind is not None
        assert late.seconds_behind > 0
        registry = CollectorRegistry()
        registry.register(ReplicaCollector(knowledge))
        assert b"sourcebook_search_replica_up 1.0" in generate_latest(registry)
        on(on_standby, "SELECT pg_wal_replay_resume()")
        wait_until(lambda: behind(stages) == 0.0)
        wait_until(lambda: len(knowledge.search("anemometer", mode="keyword")) == 1)


def assert_every_face_says_so(knowledge: KnowledgeBase) -> None:
    """Contexts, the tools of agents and the REST API say how far the replica is behind."""
    said, caller = "The index searched is a replica, 60 min behind.", Grant("local caller")
    made = knowledge.context("harbour gauge")
    assert made.notes[-1] == said
    for answer in (
        made,
        get_context(knowledge, caller, ContextArguments.of(question="harbour gauge")),
        search_documents(knowledge, caller, SearchArguments.of(query="harbour gauge")),
    ):
        assert answer.notes is not None
        assert answer.notes[-1] == said
        assert answer.seconds_behind is not None
        assert answer.seconds_behind > 3500
    with serving(knowledge, requires_key=False) as client:
        for path, asked in (("context", "question"), ("facets", "query"), ("search", "query")):
            told = client.post(f"/v1/{path}", {asked: "harbour gauge"}).json
            assert (told["notes"][-1], told["seconds_behind"] > 3500) == (said, True)
        with RemoteKnowledgeBase(f"http://127.0.0.1:{client.port}") as remote:
            assert (remote.context("harbour gauge").seconds_behind or 0.0) > 3500


def test_a_replica_that_is_an_hour_behind_says_so_or_is_not_searched(
    stages: Stages, on_standby: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results and the status have the sentence; with a limit the primary is searched, or the search fails."""
    pause(on_standby)
    on(stages.database.url, WRITTEN)
    written = Replica._written
    monkeypatch.setattr(Replica, "_written", lambda each: (found := written(each)) and (found[0], found[1] + 3600))
    try:
        with opened(stages) as knowledge:
            found = knowledge.search("harbour gauge")
            assert found.notes[-1] == "The index searched is a replica, 60 min behind."
            assert found[0].title == "Tides"
            assert_every_face_says_so(knowledge)
        assert "Replica: 60 min behind." in run("status").out
        monkeypatch.setenv("SOURCEBOOK_SEARCH_LAG", "5m")
        with opened(stages) as knowledge:
            found = knowledge.search("harbour gauge")
            assert (found.seconds_behind, found[0].title) == (0.0, "Tides")  # the primary's
            assert found.notes[-1] == (
                "The primary was searched in place of the replica: the replica is 60 min behind, and "
                "SOURCEBOOK_SEARCH_LAG allows 5 min; see why its replay is late, or allow more."
            )
        assert run("status", "--json").json["replica"]["seconds_behind"] > 3500
        monkeypatch.setenv("SOURCEBOOK_SEARCH_FALLBACK", "error")
        with (
            opened(stages) as knowledge,
            pytest.raises(ReplicaError, match="60 min behind"),
        ):
            knowledge.search("harbour gauge")
    finally:
        on(on_standby, "SELECT pg_wal_replay_resume()")


def test_a_replica_that_is_gone_is_replaced_or_the_search_fails(
    stages: Stages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The primary takes its place, which a note says; with the other choice the error names the replica's setting."""
    stages.configure()
    stages.write("tides.md", "# Tides\n\nThe gauge of the harbour is read every hour.")
    stages.run()
    monkeypatch.setenv("SOURCEBOOK_SEARCH_URL", "postgresql://nobody@127.0.0.1:1/none")
    with opened(stages) as knowledge:
        found = knowledge.search("harbour gauge")
        assert found[0].title == "Tides"
        assert found.notes[-1] == "The primary was searched in place of the replica: the replica cannot be reached."
        assert knowledge.replica is not None
        knowledge.replica.settings = replace(knowledge.replica.settings, falls_back=False)
        with pytest.raises(DatabaseUnavailableError, match="correct SOURCEBOOK_SEARCH_URL"):
            knowledge.search("harbour gauge")
    monkeypatch.setenv("SOURCEBOOK_SEARCH_URL", stages.database.url)
    monkeypatch.setenv("SOURCEBOOK_SEARCH_FALLBACK", "error")
    with (
        opened(stages) as knowledge,
        pytest.raises(ReplicaError, match="is no replica"),
    ):
        knowledge.search("harbour gauge")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SOURCEBOOK_SEARCH_URL", "postgresql://user:s3cret@host:port/name"),
        ("SOURCEBOOK_SEARCH_LAG", "soon"),
        ("SOURCEBOOK_SEARCH_FALLBACK", "yes"),
    ],
)
def test_mistakes_name_their_variable(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    """The sentence holds no part of the URL."""
    monkeypatch.setenv("SOURCEBOOK_SEARCH_URL", "postgresql://host/name")
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError, match=variable) as mistake:
        ReplicaSettings.find()
    assert "s3cret" not in str(mistake.value)

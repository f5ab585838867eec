"""The child process of a server that does what is asked for, and what agents are told where nothing does."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sourcebook.admin.workers import has_worker
from sourcebook.database.database import Database
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.operations.overviews import collection_names
from sourcebook.server.mcp.arguments import JobArguments
from sourcebook.server.mcp.tools.jobs import get_job
from sourcebook.server.mcp.tools.writing import take_folders
from sourcebook.server.own_worker import is_of_this_machine, own_worker
from tests.waiting import wait_until


@pytest.fixture
def knowledge(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    """A knowledge base of one collection without documents, which a child process reaches as well."""
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", database.url)
    knowledge = KnowledgeBase(database)
    knowledge.create_collection("notes", actor="test")
    return knowledge


@contextmanager
def worker(knowledge: KnowledgeBase, folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """The child as a server starts it, which ends with the block."""
    program = "from orchestration.request_worker import main; import sys; main(*sys.argv[1:])"
    arguments = [str(folder / "sourcebook.yaml"), str(knowledge.database.location.home)]
    with subprocess.Popen([sys.executable, "-c", program, *arguments], stdin=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def test_of_two_workers_one_does_each_request_and_both_end_with_their_servers(
    knowledge: KnowledgeBase, tmp_path: Path
) -> None:
    asked = [knowledge.request_work("notes", actor="test").id for _ in range(2)]
    said = get_job(knowledge, Grant("test"), JobArguments(job=asked[0])).how_to_go_on
    assert said is not None
    assert "No worker runs" in said
    with worker(knowledge, tmp_path) as one, worker(knowledge, tmp_path) as other:
        wait_until(lambda: all((request := knowledge.work(each)) and request.has_ended for each in asked))
        assert has_worker(knowledge.database)
        for process in (one, other):
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(60) == 0
    done = [request for each in asked if (request := knowledge.work(each))]
    assert [(request.state, request.attempts) for request in done] == [("succeeded", 1)] * 2
    assert not has_worker(knowledge.database)


def test_a_server_does_the_work_and_takes_its_worker_along(knowledge: KnowledgeBase, tmp_path: Path) -> None:
    with own_worker(lambda: knowledge, tmp_path / "sourcebook.yaml"):
        wait_until(lambda: has_worker(knowledge.database))
        number = knowledge.request_work("notes", actor="test").id
        ended = wait_until(lambda: next(iter(knowledge.work_requests(states=["succeeded"])), None))
        assert ended is not None
        assert ended.id == number
        assert ended.worker is not None
        process = int(ended.worker.rpartition(":")[2])
        assert process != os.getpid(), "the server itself answers"
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    wait_until(lambda: not has_worker(knowledge.database))


def test_a_folder_of_the_command_line_goes_into_default_and_into_nobody_elses_base(
    knowledge: KnowledgeBase, tmp_path: Path
) -> None:
    (tmp_path / "papers").mkdir()
    knowledge.is_owners, folders = True, [str(tmp_path / "papers")]
    take_folders(knowledge, Grant("test"), folders)
    assert collection_names(knowledge) == ["notes"]
    knowledge.delete_collection("notes", actor="test")
    for _ in range(2):
        take_folders(knowledge, Grant("test"), folders)
    (held,) = knowledge.sources("default")
    assert [source.location for source in held.sources] == folders
    assert [request.arguments for request in knowledge.work_requests("default")] == [{"sources": folders}] * 2


@pytest.mark.parametrize(
    ("url", "here"),
    [
        (None, True),
        ("postgresql://u@127.0.0.1:5432/a", True),
        ("postgresql:///a?host=/run/postgresql", True),
        ("postgresql://u:p@localhost/a", True),
        ("postgresql://u@db.example.com/a", False),
        ("postgresql://u@127.0.0.1,db.example.com/a", False),
    ],
)
def test_the_work_of_a_database_on_another_machine_is_left_to_that(url: str | None, here: bool) -> None:
    assert is_of_this_machine(url) == here

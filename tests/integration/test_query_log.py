"""The query log: off by default, redacted, written after the answer, kept as long as its collection says."""

from datetime import timedelta

import psycopg
import pytest
from typer.testing import CliRunner

from sourcebook.command.app import app
from sourcebook.database.query_log import QueryLog, delete_old_queries
from sourcebook.errors import QueryError
from sourcebook.evaluation.evaluate import rank_documents
from sourcebook.knowledge_base import KnowledgeBase
from tests.integration.stages import Stages

SET_ASKED = "UPDATE logged_query SET asked_at = now() - %s::interval"


@pytest.fixture
def library(stages: Stages) -> Stages:
    stages.write("power.md", "# Power\n\nThe batteries last ninety hours in winter.")
    _configure(stages, "30d")
    stages.run()
    return stages


def _configure(stages: Stages, queries: str) -> None:
    files = f"files: [{{root: ./{stages.root.name}}}]"
    stages.configure(f"collections:\n  {stages.collection}:\n    {files}\n    retention: {{queries: {queries}}}\n")


def _asked(knowledge: KnowledgeBase, *queries: str, mode: str = "keyword") -> None:
    """Search as a process does, and end it: what it logged is written then."""
    for query in queries:
        knowledge.search(query, mode=mode)  # type: ignore[arg-type]
    knowledge.release()


def test_queries_without_results_are_listed_with_their_numbers(library: Stages) -> None:
    """A query that finds something by now is not among those without results."""
    knowledge = library.knowledge
    _asked(knowledge, "batteries", "parental leave", "Parental Leave", "ask ana@example.org")
    found = knowledge.queries()
    assert [(each.query, each.searches, each.without_results) for each in found] == [
        ("Parental Leave", 2, 2),
        ("ask [e-mail]", 1, 1),
        ("batteries", 1, 0),
    ]
    assert [each.query for each in knowledge.queries(without_results=True)] == ["Parental Leave", "ask [e-mail]"]
    assert [each.query for each in knowledge.queries(without_results=True, limit=1)] == ["Parental Leave"]
    library.write("leave.md", "# Leave\n\nParental leave takes a year.")
    library.run()
    _asked(knowledge, "parental leave")
    assert [each.query for each in knowledge.queries(without_results=True)] == ["ask [e-mail]"]
    assert knowledge.queries()[0].last_results == 1


def test_nothing_is_logged_that_no_person_asked(library: Stages) -> None:
    """Further pages, evaluations, searches with `log=False` and the first search of `prewarm` stay out."""
    knowledge = library.knowledge
    knowledge.search("batteries", mode="keyword", offset=1)
    knowledge.search("batteries", mode="keyword", log=False)
    rank_documents(knowledge, library.collection, "batteries", depth=10, mode="keyword")
    knowledge.prewarm()
    knowledge.release()
    assert knowledge.queries() == []


def test_a_collection_without_the_setting_keeps_no_log(stages: Stages) -> None:
    stages.write("power.md", "# Power\n\nThe batteries last ninety hours in winter.")
    stages.configure()
    stages.run()
    _asked(stages.knowledge, "batteries")
    assert stages.knowledge.queries() == []


def test_old_queries_are_deleted_and_all_of_them_without_the_setting(library: Stages) -> None:
    """The next writing deletes what is older than the setting says; the nightly job does, too."""
    knowledge = library.knowledge
    _asked(knowledge, "batteries")
    with library.database.connection() as connection:
        connection.execute(SET_ASKED, ["29 days"])
        assert delete_old_queries(connection) == 0
        assert knowledge.queries(since=timedelta(days=28)) == []
        connection.execute(SET_ASKED, ["31 days"])
    _asked(knowledge, "winter")
    assert [each.query for each in knowledge.queries()] == ["winter"]
    library.configure()
    library.run()
    with library.database.connection() as connection:
        assert delete_old_queries(connection) == 1


def test_queries_wait_where_the_database_cannot_be_written(library: Stages) -> None:
    log = QueryLog()
    log.add([library.collection], "batteries", 1)
    with library.database.connection() as connection:
        connection.execute("SET default_transaction_read_only = on")
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            log.store(connection)
        connection.execute("SET default_transaction_read_only = off")
        assert not log.is_stored
        log.store(connection)
    assert [each.last_results for each in library.knowledge.queries()] == [1]


def test_the_command_lists_and_deletes_the_log(library: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", library.database.location.url or "")
    _asked(library.knowledge, "batteries", "parental leave")
    arguments = ["queries"]
    listed = CliRunner().invoke(app, [*arguments, "--without-results", "--since", "1d"])
    assert listed.exit_code == 0
    assert [line.split("\t")[-1] for line in listed.output.splitlines()] == ["query", "parental leave"]
    assert "Deleted 2 searches" in CliRunner().invoke(app, [*arguments, "--forget"]).output
    assert "retention.queries" in CliRunner().invoke(app, arguments).output
    with pytest.raises(QueryError, match="no collection"):
        library.knowledge.queries("nowhere")

"""What `KnowledgeBase` says of documents, states, plans and generations: typed, and as the commands say it."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sourcebook import AsyncKnowledgeBase, Document, KnowledgeBase
from sourcebook.cli.output import print_json
from sourcebook.command.app import app
from sourcebook.errors import ConfigurationError, QueryError, UnknownDocumentError
from tests.checkout import CHECKOUT
from tests.integration.stages import Stages

CONFIGURATION = """\
collections:
  handbook:
    files: [{root: ./docs}]
  letters:
    files: [{root: ./docs, include: ["a*"]}]
"""
Ask = Callable[[KnowledgeBase], Any]


@pytest.fixture(scope="module")
def base(shared_stages: Stages) -> Stages:
    """Two collections with a document in common, a damaged file, and a file that waits; no test changes any."""
    shared_stages.write("a.md", "# Tides\n\nThe gauge stands in the harbour.\n")
    shared_stages.write("b.md", "# Winds\n\nThe mast stands on the hill.\n")
    shared_stages.write("broken.docx", b"PK\x03\x04 this is no archive")
    shared_stages.write("picture.psd", b"8BPS\0\1")
    shared_stages.configure(CONFIGURATION)
    shared_stages.run_all("letters", "handbook")
    shared_stages.write("c.md", "# Snow\n\nThe pole stands in the yard.\n")
    return shared_stages


@pytest.fixture
def filled(base: Stages, monkeypatch: pytest.MonkeyPatch) -> Stages:
    """The same, as commands in the folder of the configuration find it."""
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", base.database.url)
    monkeypatch.delenv("SOURCEBOOK_CONFIG", raising=False)
    monkeypatch.chdir(base.root.parent)
    return base


def command(*arguments: str) -> Any:
    """Return the JSON object that a command prints."""
    result = CliRunner().invoke(app, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def plain(values: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> Any:
    """Return values as a command prints them."""
    print_json(values)
    return json.loads(capsys.readouterr().out)


def test_each_answer_is_what_the_command_prints(filled: Stages, capsys: pytest.CaptureFixture[str]) -> None:
    """Each method returns, by `as_dict()`, what the command prints for the same question; plans differ in no number."""
    knowledge = filled.knowledge
    for options, arguments in (
        ({}, ()),
        ({"collections": "letters"}, ("-c", "letters")),
        ({"failed": True}, ("--failed",)),
        ({"failure": "corrupt", "collections": ["handbook"]}, ("--failure", "corrupt", "-c", "handbook")),
        ({"limit": 2}, ("--limit", "2")),
        ({"processing": True}, ("--processing",)),
    ):
        items = knowledge.documents(**options)
        found = {"documents": [item.as_dict() for item in items]}
        assert plain(found, capsys) == command("documents", *arguments), options
    document = knowledge.show("docs/a.md", "letters")
    assert plain(document.as_dict(), capsys) == command("show", "docs/a.md", "-c", "letters")
    states = [state.as_dict() for state in knowledge.status()]
    assert plain({"configuration_error": None, "collections": states, "replica": None}, capsys) == command("status")
    file = filled.root.parent / "sourcebook.yaml"
    plans = [plan.as_dict() for plan in knowledge.plan("handbook", configuration=file)]
    assert plain({"collections": plans}, capsys) == command("plan", "handbook")
    assert plans == [plan.as_dict() for plan in knowledge.plan("handbook")], "nothing else is to be applied"
    generations = [generation.as_dict() for generation in knowledge.generations("letters")]
    assert plain({"generations": generations}, capsys) == command("generations", "letters")


def test_the_answers_are_typed(filled: Stages) -> None:
    """Their fields say what is there, what failed and why, what waits, and what is searched."""
    knowledge = filled.knowledge
    items = {(item.collection, Path(item.uri).name): item for item in knowledge.documents()}
    assert items["handbook", "a.md"].state == "ready"
    assert items["handbook", "broken.docx"].failure_class == "corrupt"
    assert [item.document_id for item in knowledge.documents(limit=1)] == [items["handbook", "a.md"].document_id]
    shown = knowledge.show(items["letters", "a.md"].document_id or 0)
    assert isinstance(shown, Document)
    assert (shown.item, shown.passages[0].ordinal) == (items["letters", "a.md"], 0)
    assert "gauge" in shown.text
    assert knowledge.show(filled.root / "b.md").item.title == "Winds"
    handbook, letters = knowledge.status()
    assert (handbook.documents, handbook.failed, handbook.stale, handbook.generation) == (3, 1, 1, 2)
    assert (letters.documents, letters.stale, letters.generation) == (1, 0, 1)
    (plan,) = knowledge.plan("handbook")
    assert [(Path(item.uri).name, item.reason) for item in plan.items] == [("c.md", "new")]
    assert plan.texts_to_embed == 1
    assert [(each.collection, each.state, each.progress) for each in knowledge.generations()] == [
        ("handbook", "active", 1.0),
        ("letters", "active", 1.0),
    ]


def test_a_plan_for_another_configuration_applies_nothing(filled: Stages) -> None:
    """What `plan` says of a changed file is gone with the answer; a file with a mistake is named with its line."""
    other = filled.root.parent / "other.yaml"
    other.write_text(CONFIGURATION.replace("./docs}]", "./docs}]\n    chunking: {tokens: 64}"))
    (plan,) = filled.knowledge.plan("handbook", configuration=other)
    assert plan.changed_settings == ("chunking.tokens",)
    assert plan.counts == {"new": 1, "settings changed": 2, "retry due": 1}
    assert filled.knowledge.plan("handbook")[0].changed_settings == ()
    other.write_text("collections: 7\n")
    with pytest.raises(ConfigurationError, match=r"other\.yaml"):
        filled.knowledge.plan(configuration=other)


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda base: base.documents("nothing"), QueryError, "'nothing'; there is handbook, letters"),
        (lambda base: base.documents(["handbook", "\0\ud800"]), QueryError, "there is handbook, letters"),
        (lambda base: base.documents([]), QueryError, "the list of collections is empty"),
        (lambda base: base.documents(7), QueryError, "the collections are 7"),
        (lambda base: base.documents(failure="bad"), QueryError, "the failure is 'bad'; it must be password, corrupt"),
        (lambda base: base.documents(states=["lost"]), QueryError, "states is 'lost'; it must be one of ready, "),
        (lambda base: base.documents(limit=0), QueryError, "the limit is 0"),
        (lambda base: base.documents(limit="5"), QueryError, "the limit is '5'"),
        (lambda base: base.status("nothing"), QueryError, "'nothing'"),
        (lambda base: base.plan(["nothing"]), QueryError, "'nothing'"),
        (lambda base: base.plan(configuration="no.yaml"), ConfigurationError, r"no\.yaml"),
        (lambda base: base.generations("nothing"), QueryError, "'nothing'"),
        (lambda base: base.show("docs/a.md"), UnknownDocumentError, "handbook, letters"),
        (lambda base: base.show("docs/a.md", "nothing"), QueryError, "'nothing'"),
        (lambda base: base.show("docs/picture.psd"), UnknownDocumentError, "is no document"),
        (lambda base: base.show("docs/\0\ud800.md"), UnknownDocumentError, "there is no document"),
        (lambda base: base.show(10**30), UnknownDocumentError, "there is no document"),
        (lambda base: base.show(-1), UnknownDocumentError, "there is no document"),
    ],
)
def test_a_wrong_name_is_refused_clearly(filled: Stages, ask: Ask, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ask(filled.knowledge)


def test_an_empty_base_has_empty_answers(stages: Stages) -> None:
    """Before anything was applied, and then before anything was ingested."""
    knowledge = stages.knowledge
    for answer in (knowledge.documents(), knowledge.status(), knowledge.plan(), knowledge.generations()):
        assert answer == []
    with pytest.raises(UnknownDocumentError):
        knowledge.show(1)
    with pytest.raises(QueryError, match="none yet: run sourcebook ingest"):
        knowledge.status("handbook")
    stages.configure()
    (status,) = knowledge.status()
    (plan,) = knowledge.plan()
    assert (status.name, status.documents, status.generation, plan.items) == ("handbook", 0, None, ())
    assert (knowledge.documents(), knowledge.generations()) == ([], [])


def test_every_answer_can_be_awaited(filled: Stages) -> None:
    async def run() -> None:
        async with await AsyncKnowledgeBase.connect(filled.database.url) as knowledge:
            items, states, plans, generations = await asyncio.gather(
                knowledge.documents("handbook", limit=2),
                knowledge.status(["letters"]),
                knowledge.plan("letters"),
                knowledge.generations("letters"),
            )
            assert [Path(item.uri).name for item in items] == ["a.md", "b.md"]
            assert [state.name for state in states] == [plan.name for plan in plans] == ["letters"]
            assert generations[0].collection == "letters"
            assert (await knowledge.show("docs/b.md")).item == items[1]
            with pytest.raises(QueryError):
                await knowledge.documents("nothing")

    asyncio.run(run())


LIGHT = """
import json, sys
from sourcebook import KnowledgeBase
with KnowledgeBase.connect(sys.argv[1]) as knowledge:
    before = set(sys.modules)
    knowledge.search("gauge", mode="keyword")
    print(json.dumps([sorted(name for name in sys.modules if name.startswith("sourcebook.admin"))]))
    knowledge.documents(), knowledge.show(1), knowledge.generations()
    knowledge.status(), knowledge.plan()
    print(json.dumps(sorted({"dagster", "torch", "docling", "pandas", "typer"} & set(sys.modules))))
"""
CORE = """
import sys
for name in ("wcmatch", "filetype", "fsspec", "lxml", "pebble", "loky", "dagster", "ruamel"):
    sys.modules[name] = None
from sourcebook import KnowledgeBase
from sourcebook.errors import MissingDependencyError
with KnowledgeBase.connect(sys.argv[1]) as knowledge:
    item, *_ = knowledge.documents()
    assert knowledge.show(item.document_id).item == knowledge.show(item.uri, "handbook").item == item
    assert len(knowledge.generations()) == 2
    assert knowledge.show("docs/a.md", "handbook").item == item
    for ask in (knowledge.status, knowledge.plan):
        try:
            ask()
        except MissingDependencyError as error:
            print(error)
"""


def run(code: str, *arguments: str) -> list[str]:
    """Run a program in a process of its own, and return the lines that it prints."""
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.check_output(command, text=True, env=environment, timeout=120).splitlines()


def test_a_search_loads_nothing_of_it_and_a_plan_no_dagster(filled: Stages) -> None:
    """A search imports the class alone; no answer needs Dagster, a model, a parser or the command line."""
    searched, asked = map(json.loads, run(LIGHT, filled.database.url))
    assert searched == [[]]
    assert asked == []


def test_the_light_core_answers_and_names_what_the_rest_needs(filled: Stages) -> None:
    """Without the packages of the extras; the errors have the command that installs them."""
    told = run(CORE, filled.database.url)
    assert len(told) == 2, told
    assert all("pip install" in line for line in told)
    assert "[pipeline]" in told[0]

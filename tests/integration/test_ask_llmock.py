"""Answers of a server that others wrote, llmock, which breaks as services do and judges its client."""

import gc
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from sourcebook.contract.answers import ToolUse
from sourcebook.errors import ModelError
from tests.integration.stages import Stages

QUESTION = "How long do the batteries of the tide gauge last?"
ANSWER = "The batteries of the tide gauge last fourteen months [1]."


@pytest.fixture
def service() -> Iterator[Any]:
    llmock = pytest.importorskip("llmock.testing", reason="the package llmock is not installed")
    with llmock.LLMockServer() as service:
        yield service
    # Connections that it cut on purpose stay open in this process, and would fail a later test as leaks.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def test_faults_of_services(stages: Stages, service: Any) -> None:
    """A client that retries what is worth it, waits as it is told, and takes no half of an answer for a whole one."""
    from llmock.scenarios import Fail, Reply, StreamFault, ToolCall, ToolFault
    from llmock.verdict import judge

    stages.write("power.md", "# Power\n\nThe batteries of the tide gauge last fourteen months. The gauge needs them.\n")
    stages.configure(
        "collections:\n  handbook:\n    files: [{root: ./docs}]\n"
        f"    answering: {{base_url: '{service.base_url()}', model: gpt-4o-mini, timeout: 20s}}\n"
    )
    stages.run()
    knowledge, state = stages.knowledge, service.state
    for faults in (
        [],
        [Fail(429, retry_after=0.2)],
        [Fail(503)],
        [StreamFault("truncate", after_chunks=1)],
        [StreamFault("disconnect", after_chunks=1)],
        [StreamFault("malformed", after_chunks=1)],
    ):
        state.reset()
        state.scenarios.add(*faults, Reply(ANSWER, times=2))
        answer = knowledge.ask(QUESTION)
        assert answer.text == ANSWER, faults
        assert answer.prompt_tokens is not None
        records = state.journal.records(wait=5)
        assert len(records) == 1 + len(faults)
        # A malformed chunk may come with all that follows it: that no more is read cannot be told then.
        judge(records).assert_ok(strict=not any(getattr(fault, "kind", "") == "malformed" for fault in faults))
    state.reset()
    state.scenarios.add(Fail(401, times=None))
    with pytest.raises(ModelError, match="refuses the key"):
        knowledge.ask(QUESTION)
    assert len(state.journal.records(wait=5)) == 1

    state.reset()
    calls = (ToolCall("search", {"query": "power of the gauge"}),)
    state.scenarios.add(Reply(tool_calls=calls), ToolFault("unknown_tool"), ToolFault("malformed_arguments"))
    state.scenarios.add(Reply(ANSWER, times=9))
    events = list(knowledge.ask_stream(QUESTION))
    assert [event.query for event in events if isinstance(event, ToolUse)][:1] == [QUESTION]
    assert not judge(state.journal.records(wait=5)).errors


def test_a_model_that_calls_tools_by_itself(stages: Stages, service: Any) -> None:
    """Arguments that llmock makes from the schemas are taken; its answer cites nothing, and is refused."""
    stages.write("power.md", "# Power\n\nThe batteries of the tide gauge last fourteen months. The gauge needs them.\n")
    stages.configure()
    stages.run()
    given = {"base_url": service.base_url(), "model": "gpt-4o-mini"}
    events = list(stages.knowledge.ask_stream(QUESTION, answering=given))
    assert len([event for event in events if isinstance(event, ToolUse)]) == 2
    assert events[-1].reason == "uncited"  # type: ignore[union-attr]

"""Fields of log lines belong to their block."""

from contextvars import copy_context
from threading import Thread

from sourcebook.telemetry.log_context import log_context, log_fields


def test_fields_nest_and_end_with_their_block() -> None:
    with log_context(run="r1"):
        with log_context(collection="handbook"):
            assert log_fields() == {"run": "r1", "collection": "handbook"}
        assert log_fields() == {"run": "r1"}
    assert log_fields() == {}


def test_a_thread_has_the_fields_of_the_context_that_it_copies() -> None:
    found: list[dict[str, str]] = []
    with log_context(run="r1"):
        context = copy_context()
    for run in (
        lambda: context.run(lambda: found.append(dict(log_fields()))),
        lambda: found.append(dict(log_fields())),
    ):
        thread = Thread(target=run)
        thread.start()
        thread.join()
    assert found == [{"run": "r1"}, {}]

"""A collection of three pages whose chunking or model changes, for tests of generations."""

from sourcebook.indexing.generations import Generations, ensure_generations, find_generations
from sourcebook.model.generation import Generation
from tests.integration.stages import Stages

TEXT = """\
collections:
  handbook:
    files: [{{root: ./docs}}]
    chunking: {{tokens: {tokens}}}
    embedding: {{model: {model}}}
    generations: {{activate: {activate}, keep: {keep}}}
"""

PAGES = {
    f"{name}.md": f"# {name.title()}\n\n"
    + "\n\n".join(f"The {name} of station {number} is read at {number} o'clock. " * 6 for number in range(8))
    for name in ("tide", "wind", "snow")
}


def configure(stages: Stages, tokens: int = 64, more: str = "", **settings: object) -> None:
    values = {"model": "all-MiniLM-L6-v2", "activate": "automatic", "keep": 1, **settings}
    stages.configure(TEXT.format(tokens=tokens, **values) + more)


def generations(stages: Stages) -> Generations:
    with stages.connection() as connection:
        return find_generations(connection, stages.collection)


def passages(stages: Stages, number: int) -> int:
    (row,) = stages.rows("SELECT count(*) FROM search_entry WHERE generation_id = %(number)s", number=number)
    return int(row["count"])


def partitions(stages: Stages) -> list[str]:
    """Return the names of the tables of all generations."""
    rows = stages.rows(
        "SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace AND nspname = 'sourcebook' "
        "WHERE relname ~ '^(search|keyword)_entry_[0-9]+$' ORDER BY relname"
    )
    return [row["relname"] for row in rows]


def days_pass(stages: Stages) -> None:
    """Let every search that began before now have ended."""
    stages.rows("UPDATE activation SET activated_at = activated_at - interval '1 day' RETURNING 1")


def build_first(stages: Stages) -> Stages:
    """Build the first generation of a collection, of 64 tokens."""
    for name, text in PAGES.items():
        stages.write(name, text)
    configure(stages)
    stages.run()
    return stages


def waiting_generation(stages: Stages) -> Generation:
    """Build a generation that waits for a person to activate it."""
    configure(stages, 128, activate="manual")
    stages.run()
    second = generations(stages).building
    assert second is not None
    return second


def is_blocked(stages: Stages) -> bool:
    """Return whether a session of the test's database waits for a lock."""
    waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    return bool(stages.rows(waiting))


def surplus_generation(stages: Stages, tokens: int) -> int:
    """Begin a generation that nothing needs any more, and return its id."""
    configure(stages, tokens)
    stages.chunks()
    begun = generations(stages).building
    assert begun is not None
    configure(stages, 64)
    with stages.connection() as connection:
        ensure_generations(connection, stages.collection)
    return begun.id


class KilledError(Exception):
    """An end of the process in the middle of its work."""

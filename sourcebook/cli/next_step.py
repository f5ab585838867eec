"""State of the knowledge base in a line, and the command that comes next: what `sourcebook` alone prints."""

from sourcebook.cli.context import CommandContext
from sourcebook.cli.output import safe, say
from sourcebook.contract.collections import CollectionStatistics
from sourcebook.model.counted import counted

_BEGIN = """\
Take documents in:  sourcebook ingest ./docs
Then ask:           sourcebook search "your question\""""


def show_next_step(context: CommandContext) -> None:
    """Print the state and the next step; where there is nothing yet, the two lines to begin with.

    Raises:
        DatabaseError: the database cannot be reached.
        AccessError: the server refuses the key.
    """
    found: list[CollectionStatistics] = []
    if context.server is not None or (context.is_named and not context.is_empty()):
        with context.knowledge() as knowledge:
            found = knowledge.statistics()
    mistake = context.mistake if context.server is None else None
    if mistake is not None:
        say(safe(mistake, "red"))
    elif found:
        say(state_of(found))
    else:
        say(_BEGIN)
    say("All commands: sourcebook --help")


def state_of(found: list[CollectionStatistics]) -> str:
    """Return the numbers of collections, documents and failures, and the command that shows these or searches."""
    failed = sum(sum(each.failures.values()) for each in found)
    documents = sum(each.states.get("ready", 0) for each in found)
    numbers = [counted(len(found), "collection"), counted(documents, "document")]
    if failed:
        return f"{', '.join(numbers)}, {failed:,} failed: sourcebook documents --failed"
    step = 'sourcebook search "your question"' if documents else "sourcebook ingest"
    return f"{', '.join(numbers)}: {step}"

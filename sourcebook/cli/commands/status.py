"""`sourcebook status`: the state of each collection."""

from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated

import typer

from sourcebook.cli.commands.status_check import Check, MaxFailed, MaxLag, MaxSilence, check
from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Collections, Json, collection_argument
from sourcebook.cli.output import one_line, print_json, retry_note, safe, say
from sourcebook.cli.tables import Column, Row, show_table
from sourcebook.model.counted import counted
from sourcebook.model.left_out import left_out_words

if TYPE_CHECKING:
    from sourcebook.contract.status import CollectionStatus
    from sourcebook.database.replica import ReplicaState

SHOWN_PROBLEMS = 10
LONGEST_WAIT = timedelta(minutes=10)
"""Time for which changes of a source may wait before it is said, as the check `folders_are_fresh` says it."""
COLUMNS = (
    Column("collection"),
    *(Column(heading, "right") for heading in ("documents", "failed", "skipped", "stale", "removed")),
    Column("passages", "right", leaves=1),
    Column("vectors", "right", leaves=2),
    Column("generation", "right", leaves=3),
    Column("model", leaves=4),
)


def status(
    ctx: typer.Context,
    names: Annotated[list[str] | None, collection_argument("Only these collections; every one by default.")] = None,
    named: Collections = None,
    as_json: Json = False,
    for_monitors: Check = False,
    max_lag: MaxLag = "30m",
    max_silence: MaxSilence = "5m",
    max_failed: MaxFailed = 0,
) -> None:
    """Show the state of each collection: searchable, stale and failed items, with the reasons of failures.

    Sources are compared with the ledger by name, size and time; nothing is read or changed. *Stale* counts the items
    that the next `sourcebook ingest` will process.

    With `--check`: whether the daemon and its sensors run, whether changes wait, whether items have failed. Exit codes:
    0 nothing to report, 3 failed items only, 2 a mistake in the configuration, 1 anything worse.

    **Example:** `sourcebook status handbook`
    """
    context = CommandContext.of(ctx, may_be_served=True)
    collections = list(dict.fromkeys([*(names or ()), *(named or ())]))
    if for_monitors:
        if collections:
            raise typer.BadParameter("--check looks at every collection: name none")
        context.refuse_server("sourcebook status --check")
        check(context, max_lag=max_lag, max_silence=max_silence, max_failed=max_failed, as_json=as_json)
        return
    found: list[CollectionStatus] = []
    mistake: str | None = None
    replica: ReplicaState | None = None
    if not context.is_empty(collections):
        from sourcebook.operations.opened import Opened

        with context.knowledge() as knowledge:
            found = knowledge.status(collections or None)
            if isinstance(knowledge, Opened):
                from sourcebook.database.replica import replica_state

                mistake, replica = context.mistake, replica_state(knowledge.database)
    if as_json:
        told = None if replica is None else {"seconds_behind": replica.seconds_behind, "error": replica.error}
        shown = [collection.as_dict() for collection in found]
        print_json({"configuration_error": mistake, "collections": shown, "replica": told})
        return
    if replica is not None:
        say(f"Replica: {replica}.")
    if mistake is not None:
        _show_mistake(mistake)
    if not found:
        say("There is no collection yet. Begin with  sourcebook ingest FOLDER")
    else:
        _show(found)


def _show_mistake(mistake: str) -> None:
    say(safe("The configuration has a mistake; the last good one stays in force:", "red"))
    for line in mistake.splitlines():
        say(safe(f"  {line}", "red"))


def _show(found: "list[CollectionStatus]") -> None:
    show_table(
        COLUMNS,
        [
            Row(
                (
                    collection.name,
                    f"{collection.documents:,}",
                    f"{collection.failed:,}",
                    f"{collection.skipped:,}",
                    f"{collection.stale:,}",
                    f"{collection.removed:,}",
                    f"{collection.chunks:,}",
                    f"{collection.embeddings:,}",
                    "" if collection.generation is None else str(collection.generation),
                    collection.embedding_model or "",
                ),
                {0: "bold", 2: "red" if collection.failed else "", 4: "yellow" if collection.stale else ""},
            )
            for collection in found
        ],
    )
    for collection in found:
        if collection.declared_in == "api":
            say(safe(f"{collection.name}: made over the API; sourcebook.yaml does not declare it"))
        if collection.filling is not None:
            say(safe(str(collection.filling), "yellow"))
        _show_generations(collection)
        _show_processing(collection)
        _show_sites(collection)
        _show_looks(collection)
        _show_taken(collection)
        _show_generated_indexes(collection)
        _show_unknown_languages(collection)
        if collection.lacking:
            types = ", ".join(f"{number:,} of type {name}" for name, number in collection.lacking.items())
            say(safe(f"{collection.name}: documents without metadata that their type promises: {types}", "yellow"))
        if collection.left_out:
            documents = counted(collection.leaving_out, "document")
            line = f"{collection.name}: left out of the text of {documents}: {left_out_words(collection.left_out)}"
            say(safe(line, "yellow"))
        for uri, error in collection.unread_front_matter.items():
            say(safe(f"{collection.name}: the front matter of {uri} is not read; mend {error}", "yellow"))
        _show_usage(collection)
        _show_problems(collection)
        _show_damage(collection)
    stale = sum(collection.stale for collection in found)
    if stale:
        items = counted(stale, "item")
        say(f"{items} {'is' if stale == 1 else 'are'} stale. Bring them up to date: sourcebook ingest")


def _show_generations(collection: "CollectionStatus") -> None:
    from sourcebook.indexing.generation_states import describe_next

    if collection.generation_error is not None:
        line = f"{collection.name}: no generation by the new settings can be built: {collection.generation_error}"
        say(safe(line, "red"))
    if collection.building is not None:
        line = f"{collection.name}: {describe_next(collection.building)}"
        say(safe(line, "yellow"))


def _show_processing(collection: "CollectionStatus") -> None:
    if collection.processing:
        first = min(collection.processing, key=attrgetter("since"))
        holders = sorted({item.process for item in collection.processing})
        items = counted(len(collection.processing), "item")
        line = f"{collection.name}: {items} in work since {first.since.astimezone():%H:%M:%S} by {', '.join(holders)}"
        say(safe(f"{line}: sourcebook documents --processing"))


def _show_sites(collection: "CollectionStatus") -> None:
    from sourcebook.web.left_out import LeftOut

    for source in collection.sources:
        if source.kind == "site":
            parts = [
                counted(source.pages or 0, "page"),
                f"{source.queued:,} queued" if source.queued else "",
                f"{source.beyond:,} more than max_pages allows" if source.beyond else "",
                f"next crawl {source.next_crawl_at.astimezone():%Y-%m-%d %H:%M %Z}"
                if source.next_crawl_at
                else "not crawled yet",
            ]
            line = f"{collection.name}: {one_line(source.location, 500)}: {', '.join(part for part in parts if part)}"
            say(safe(line))
            for entry in source.left_out or ():
                note = f"{collection.name}: {one_line(source.location, 500)}: {one_line(str(LeftOut.of(entry)), 1000)}"
                say(safe(note))


def _show_looks(collection: "CollectionStatus") -> None:
    for source in collection.sources:
        if source.location.startswith(("git+", "record://")) and source.kind == "files":
            commit = f"at commit {source.commit[:12]}" if source.commit else "not fetched yet"
            again = source.next_fetch_at
            due = f"next look {again.astimezone():%Y-%m-%d %H:%M %Z}" if again else "next look at once"
            said = f"{commit}, {due}" if source.location.startswith("git+") else due
            say(safe(f"{collection.name}: {one_line(source.location, 500)}: {said}"))


def _show_taken(collection: "CollectionStatus") -> None:
    for source in collection.sources:
        if source.kind == "collection":
            line = f"{collection.name}: takes {counted(source.taken or 0, 'document')} of {source.location}"
            say(safe(line))


def _show_generated_indexes(collection: "CollectionStatus") -> None:
    if collection.generated_indexes:
        number = collection.generated_indexes
        what = f"{number:,} generated {'index' if number == 1 else 'indexes'}"
        passages = counted(collection.passages_without_vector, "passage")
        line = f"{collection.name}: {what} with {passages} left out of the vectors, searched by keywords alone"
        say(safe(f"{line} (embedding.generated_indexes)"))


def _show_unknown_languages(collection: "CollectionStatus") -> None:
    from sourcebook.embedding.weights import remedy

    if collection.unknown_languages and collection.embedding_model is not None:
        languages = ", ".join(f"{number:,} in {code}" for code, number in collection.unknown_languages.items())
        line = (
            f"{collection.name}: {collection.embedding_model} does not know the languages of some documents "
            f"({languages}), which vector search finds poorly: "
            f"{remedy(collection.embedding_model, collection.unknown_languages)}"
        )
        say(safe(line, "yellow"))


def _show_usage(collection: "CollectionStatus") -> None:
    from sourcebook.cli.commands.usage import dollars
    from sourcebook.contract.usage import summed

    for total in summed(collection.usage, ()):
        parts = [
            f"{counted(total.texts, 'text')} ({total.cached:,} from the cache)",
            "" if total.tokens is None else f"{total.tokens:,} tokens",
            "cost unknown" if total.cost is None else f"${dollars(total.cost)}",
        ]
        say(f"{collection.name}: models in 30 days: {', '.join(part for part in parts if part)}: sourcebook usage")


def _show_damage(collection: "CollectionStatus") -> None:
    if not collection.damage:
        return
    say(safe(f"Damaged in {collection.name}; the next ingest mends it:"))
    for finding in collection.damage[:SHOWN_PROBLEMS]:
        say(safe("  damaged ", "red").append_text(safe(one_line(str(finding), 500))))
    more = len(collection.damage) - SHOWN_PROBLEMS
    if more > 0:
        say(f"  … and {more:,} more: sourcebook status --json")


def _show_problems(collection: "CollectionStatus") -> None:
    for source in collection.sources:
        if source.behind_since and datetime.now(UTC) - source.behind_since > LONGEST_WAIT:
            since = source.behind_since.astimezone(UTC)
            told = f"changes in {source.location} have been waiting since {since:%Y-%m-%d %H:%M} UTC"
            say(safe(f"{collection.name}: {one_line(told, 500)}", "yellow"))
    known = {source.listing_error for source in collection.sources}
    for reason in collection.unlisted:
        if reason not in known:
            say(safe(f"{collection.name}: {one_line(reason, 500)}", "red"))
    if not collection.problems:
        return
    say(safe(f"Not indexed in {collection.name}:"))
    for problem in collection.problems[:SHOWN_PROBLEMS]:
        line = safe(f"  {problem.state:<8}", "red" if problem.state == "failed" else "yellow")
        kind = f" ({problem.failure_class})" if problem.failure_class else ""
        line.append_text(
            safe(f"{one_line(problem.uri, 500)}{kind}: not indexed because {one_line(problem.error, 500)}")
        )
        note = retry_note(
            failed=problem.state == "failed",
            parked=problem.parked,
            attempts=problem.attempts,
            next_retry_at=problem.next_retry_at,
        )
        if note:
            line.append_text(safe(f" ({note})", "dim"))
        say(line, hanging=" " * 10)
    more = len(collection.problems) - SHOWN_PROBLEMS
    if more > 0:
        say(f"  … and {more:,} more: sourcebook documents --failed")

"""`sourcebook reconcile`: sources, ledger and index compared with each other, and mended."""

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestration.configuration_in_force import configuration_in_force
from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json, collection_argument

if TYPE_CHECKING:
    from sourcebook.admin.pending import Pending
    from sourcebook.model.selection import Selection

MOST_SHOWN = 20
"""Damaged items of a collection that are listed; `--json` has all of them."""


def reconcile(
    ctx: typer.Context,
    collections: Annotated[list[str] | None, collection_argument("The collections; all where none is named.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what differs.")] = False,
    deep: Annotated[
        bool, typer.Option("--deep", help="Read the content of every file, and compute every keyword weight again.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare sources, ledger and index with each other completely, and mend what differs.

    An ingest looks at what changed; this looks at everything: each file against the inventory, each document against
    its file, each row of the index against the sums that were kept when it was published. Files are compared by size,
    times and inode, or by the ETag or commit of their store; with `--deep` their content is read. Exit code 3 where
    something differs afterwards.

    Example: `sourcebook reconcile handbook --dry-run`
    """
    from sourcebook.model.selection import Selection

    context = CommandContext.of(ctx)
    configuration = configuration_in_force(context)
    names = collections or []
    selection = Selection(thorough=True, deep=deep)
    started = time.perf_counter()
    with context.open_database() as database:
        if dry_run:
            found = _compare(database, names, selection)
        else:
            found = _mend(configuration, database, names, selection, as_json=as_json)
    if as_json:
        from sourcebook.cli.output import print_json

        seconds = round(time.perf_counter() - started, 3)
        print_json({"collections": found, "dry_run": dry_run, "deep": deep, "seconds": seconds})
    else:
        for name, collection in found.items():
            _show(name, collection)
    if any(_differs(collection["left"] or {}) for collection in found.values()):
        from sourcebook.cli.errors import FAILED_ITEMS

        raise typer.Exit(FAILED_ITEMS)


def _compare(database: Any, names: list[str], selection: "Selection") -> dict[str, dict[str, Any]]:
    from sourcebook.admin.collections import check_collections, collection_names
    from sourcebook.admin.pending import find_pending

    with database.connection() as connection:
        check_collections(connection, names)
        return {
            name: {**_found(find_pending(connection, name, selection), selection), "left": None, "assets": None}
            for name in names or collection_names(connection)
        }


def _mend(
    configuration: Any, database: Any, names: list[str], selection: "Selection", *, as_json: bool
) -> dict[str, dict[str, Any]]:
    from dataclasses import replace

    from orchestration.ingest import IngestEvents, ingest
    from orchestration.progress_display import ProgressDisplay
    from sourcebook.admin.pending import find_pending

    found = {}
    with ProgressDisplay(quiet=as_json) as display:
        events = IngestEvents(display.waiting, display.started, display.speech_is_busy)
        for done in ingest(configuration, database, collections=names, selection=selection, events=events):
            display.finished(done)
            with database.connection() as connection:  # files were hashed a moment ago
                left = find_pending(connection, done.name, replace(selection, deep=False))
            found[done.name] = {
                **_found(done.pending, selection),
                "left": _differences(left),
                "assets": done.assets,
            }
    return found


def _found(pending: "Pending", selection: "Selection") -> dict[str, Any]:
    """Return what differs, and how many files were compared, and read for it."""
    files = sum(difference.files for difference in pending.differences)
    return {"found": _differences(pending), "files": files, "read": files if selection.deep else 0}


def _differences(pending: "Pending") -> dict[str, Any]:
    """Return the differences in each direction."""
    return {
        "sources": pending.changed_files + pending.gone_files,
        "unlisted": list(pending.unlisted),
        "documents": max(pending.recordings, pending.documents),
        "index": pending.index,
        "damaged": [{"uri": finding.uri, "reason": finding.reason} for finding in pending.damage],
    }


def _differs(differences: dict[str, Any]) -> bool:
    return any(differences.values())


def _show(name: str, collection: dict[str, Any]) -> None:
    from sourcebook.cli.output import console, one_line, safe
    from sourcebook.model.counted import counted

    found, left = collection["found"], collection["left"]
    parts = {
        "sources and ledger": counted(found["sources"], "file"),
        "ledger": counted(found["documents"], "document"),
        "ledger and index": f"{counted(found['index'], 'document')}, {len(found['damaged']):,} damaged",
    }
    differing = ", ".join(f"{direction}: {number}" for direction, number in parts.items())
    console().print(safe(f"{name}: differences between {differing}", "bold"), soft_wrap=True)
    for reason in found["unlisted"]:
        console().print(safe(f"  {one_line(reason, 500)}", "red"), soft_wrap=True)
    for finding in found["damaged"][:MOST_SHOWN]:
        what = f"{finding['uri']}: {finding['reason']}" if finding["uri"] else finding["reason"]
        console().print(safe(f"  damaged {one_line(what, 500)}", "yellow"), soft_wrap=True)
    more = len(found["damaged"]) - MOST_SHOWN
    if more > 0:
        console().print(f"  … and {more:,} more: --json lists them")
    if left is None:
        return
    if not _differs(left):
        agrees = "everything agrees now" if _differs(found) else "everything agrees"
        console().print(safe(f"  {agrees}: {_looked_at(collection)}"), soft_wrap=True)
        return
    rest = f"{left['sources']:,} files, {left['documents']:,} documents, {left['index']:,} in the index"
    console().print(safe(f"  could not be mended: {rest}, {len(left['damaged']):,} damaged", "red"), soft_wrap=True)
    for reason in left["unlisted"]:
        console().print(safe(f"  {one_line(reason, 500)}", "red"), soft_wrap=True)


def _looked_at(collection: dict[str, Any]) -> str:
    """Return how far the comparison of the files went."""
    from sourcebook.model.counted import counted

    if collection["read"]:
        return f"the content of {counted(collection['read'], 'file')} was read"
    files = counted(collection["files"], "file")
    return f"{files} by size, times and inode, or by ETag or commit; --deep reads the content, too"

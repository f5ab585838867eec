"""The stage `documents`: parse files, crawled pages and transcripts into documents.

It reads the live items (`raw_file`, `crawled_page`, `transcript`, and attachments) and the bytes of files.
It writes `parsed_content`, `attachment` and `document`. A document is stale when its item has other bytes, when another
parser identity applies, or when the retry of a failure is due; only items that changed are compared. Renames,
removals and returns take one statement each; bytes that the same parser parsed before, in any collection, are not
parsed again. The content of an HTML page is stored by its crawl and parsed here only when the parser changes. In the
end the relations of changed documents are read; see `sourcebook/stages/relations/`.
"""

from collections.abc import Callable
from contextlib import nullcontext

from psycopg import Connection

from sourcebook.database.lock import in_turn
from sourcebook.database.queries import queries
from sourcebook.database.stage_runs import refresh_statistics
from sourcebook.files.reading import name_as_title
from sourcebook.indexing.damage import find_suspicion, heightened
from sourcebook.indexing.mending import mend_contents
from sourcebook.model.media_types import CONTAINERS, MAY_HOLD_FILES
from sourcebook.model.progress import Progress, silent
from sourcebook.model.report import StageReport
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.model.shard import is_first
from sourcebook.parsing.parser_pool import ParserPool
from sourcebook.parsing.registry import page_identity
from sourcebook.redaction.ingestion import with_identity
from sourcebook.stages.changes import ChangedItems, changed_items, count_unsettled_items, kept_count, settle_items
from sourcebook.stages.documents.maker import DocumentMaker
from sourcebook.stages.documents.rows import StaleDocument, stale_documents
from sourcebook.stages.documents.run import DocumentsRun, documents_run
from sourcebook.stages.ingest_redaction import forget_whole_contents, redact_stored_facts
from sourcebook.stages.observed_stage import observed_stage
from sourcebook.stages.processing import processing
from sourcebook.stages.relations.update import update_relations


@observed_stage("documents")
def update_documents(
    connection: Connection,
    collection: str,
    selection: Selection = EVERYTHING,
    progress: Progress = silent,
    *,
    parsers: ParserPool | None = None,
    recorded: Callable[[int], None] = lambda documents: None,
    ahead: StageReport | None = None,
) -> StageReport:
    """Bring the documents of a collection up to date with its items.

    Messages, archives and data files are parsed first, because these hold items; files in documents follow.

    Args:
        connection: in autocommit mode.
        collection: name of the collection.
        selection: items to work on.
        progress: called after each transaction.
        parsers: pool of parser processes; where None, a pool that ends with this call.
        recorded: called after each transaction that records documents, with the number of all that this call makes.
        ahead: counts of documents that were made earlier in this run.

    Returns:
        Counts of added, changed, removed and unchanged documents, and the failures.
    """
    report = StageReport()
    suspicion = find_suspicion(connection, collection)
    selection = heightened(selection, suspicion)
    shard = selection.shard
    if selection.thorough and (suspicion or is_first(shard)):
        with in_turn(connection, shard, "proof"):
            damaged = mend_contents(connection, collection)
        if damaged:
            report.count("damaged", damaged)
    run = documents_run(connection, collection, selection, report)
    changed = _follow_items(run)
    stale = stale_documents(connection, collection, run.identities, selection, changed.uris)
    done = 0
    with (
        nullcontext(parsers) if parsers is not None else ParserPool(documents=len(stale)) as parsers,
        processing(connection, collection, "documents", shares=shard is not None) as marks,
    ):
        maker = DocumentMaker(run, parsers, marks)
        read: set[str] = set()
        batch = [item for item in stale if item.media_type in CONTAINERS] or stale
        while batch:
            attachments = maker.attachments
            for number in maker.make(batch):
                done += number
                progress(done, len(read) + len(stale), report.failed)
                recorded(len(read) + len(stale))
            read |= {item.uri for item in batch}
            if len(batch) == len(stale) and maker.attachments == attachments and not any(map(_had_files, batch)):
                break
            changed = _follow_items(run)
            found = stale_documents(connection, collection, run.identities, selection, changed.uris)
            batch = stale = [item for item in found if item.uri not in read]
    if changed.is_whole:
        page = with_identity(page_identity(), run.redaction)
        with in_turn(connection, shard, "pages"):
            connection.execute(queries["follow_page_parser"], {"collection": collection, "parser": page})
            if run.redaction:
                forget_whole_contents(connection, collection, run.redaction)
    with in_turn(connection, shard, "relations"):
        update_relations(connection, collection, thorough=selection.thorough, report=report)
    if not selection.is_partial or _leaves_nothing(run, changed):
        settle_items(connection, collection, changed, shard)
    if ahead is not None:
        report.include(ahead)
    live, version = kept_count(connection, collection, "documents", recount=selection.thorough, shard=shard)
    kept_count(connection, collection, "removed", recount=selection.thorough, shard=shard)
    report.unchanged = max(live - report.added - report.changed - report.failed, 0)
    refresh_statistics(connection, queries["analyze_documents"], report)
    return report.finish(version)


def _had_files(item: StaleDocument) -> bool:
    """Tell whether there may be documents of files that the item no longer holds."""
    return item.media_type in CONTAINERS or (item.document_id is not None and item.media_type in MAY_HOLD_FILES)


def _leaves_nothing(run: DocumentsRun, changed: ChangedItems) -> bool:
    """Return whether a run over part of a collection has left no changed item out, as most runs of the watch do.

    Otherwise every mark stays: an attachment is found through the mark of its message.
    """
    is_marked = not changed.is_whole and bool(changed.marks)
    return is_marked and not any(count_unsettled_items(run.connection, run.collection, run.identities, changed))


def _follow_items(run: DocumentsRun) -> ChangedItems:
    """Apply renames, removals, returns and changed tags, and return the change set."""
    with run.connection.transaction():
        changed = _changed(run)
        if run.redactor is not None and changed.uris is None:
            redact_stored_facts(run.connection, run.collection, run.redactor)
        if changed.uris == []:  # planning the four statements that change nothing takes a hundredth of a second
            return changed
        while _rename(run, changed):  # attachments are named after their message, which has its new name now
            changed = _changed(run)
        scope = {"collection": run.collection, "uris": changed.uris}
        run.report.removed += run.connection.execute(queries["remove_documents"], scope).rowcount
        returned = {uri for (uri,) in run.connection.execute(queries["restore_documents"], scope)}
        if returned:
            run.report.added += len(returned)
            run.report.count("returned", len(returned))
            run.returned.update(returned)
        run.connection.execute(queries["refresh_document_sources"], scope)
    return changed


def _changed(run: DocumentsRun) -> ChangedItems:
    return changed_items(run.connection, run.collection, run.identities, run.selection)


def _rename(run: DocumentsRun, changed: ChangedItems) -> bool:
    scope = {"collection": run.collection, "uris": changed.uris}
    renamed = run.connection.execute(queries["rename_documents"], scope).fetchall()
    if not renamed:
        return False
    run.report.count("renamed", len(renamed))
    run.report.changed += len(renamed)
    titles = {number: name_as_title(uri) for number, uri, named_after_file in renamed if named_after_file}
    if run.redactor is not None:
        titles = {number: run.redactor.redact(title).text for number, title in titles.items()}
    run.connection.execute(queries["set_titles"], {"ids": list(titles), "titles": list(titles.values())})
    return True

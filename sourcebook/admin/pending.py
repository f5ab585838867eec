"""The work that an ingest would have to do, found by names, sizes and times."""

import hashlib
from dataclasses import dataclass, field, replace

from psycopg import Connection

from sourcebook.contract.status import Finding
from sourcebook.database.queries import queries
from sourcebook.files.listing import FileEntry
from sourcebook.files.source import Source
from sourcebook.indexing.activation import due_for_retirement
from sourcebook.indexing.damage import find_every_damage, find_suspicion, heightened
from sourcebook.indexing.generations import find_generations
from sourcebook.model.media_types import is_recording, media_type_of_name
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.model.shard import Shard, is_first
from sourcebook.parsing.registry import is_taken
from sourcebook.stages.changes import changed_documents, changed_items, count_unsettled_items, unsettled_documents
from sourcebook.stages.documents.rows import document_identities
from sourcebook.stages.generations import is_whole
from sourcebook.stages.raw_files import Difference, collection_sources, compare
from sourcebook.stages.raw_files.shards import listing_errors_of, of_shard
from sourcebook.stages.relations.rules import count_unrelated_documents
from sourcebook.stages.shards import documents_in
from sourcebook.stages.transcripts.presence import has_recordings
from sourcebook.web.due import due_pages

MOST_SMALL = 64
"""Items up to which a change is small: it ends before a page that shows its progress would be open."""


@dataclass(frozen=True, slots=True)
class Pending:
    """Numbers of items of a collection that differ from the ledger."""

    changed_files: int
    """Files that are new, changed, returned or due for a retry."""
    gone_files: int
    moving_files: int
    """Files that are new or changed, and that the selection leaves to the next run, as they are being written."""
    pages: int
    """URLs of sites that a crawl would request now."""
    recordings: int
    """Known recordings without a transcript of their current bytes by the current engine."""
    documents: int
    """Documents that differ from their file or page."""
    index: int
    """Documents whose chunks, embeddings or entries are outdated in the active generation or in the one being built."""
    generations: int
    """Generations that are to be begun, activated or deleted."""
    damaged: int
    """Documents, vectors and kept numbers that are not those that were written."""
    unlisted: tuple[str, ...]
    """Reasons why sources could not be listed."""
    newly_unlisted: bool
    """Whether `unlisted` differs from the ledger."""

    readable_files: int
    """Changed files that may hold text, by their names and sizes."""
    unmade_documents: int
    """Documents that differ from their file or page, without those that lost it."""
    taken_documents: int
    """Documents of `unmade_documents` that are taken from other collections: nothing of them is parsed."""
    suspicious: bool
    """Whether there are signs that somebody else has changed rows, which the next ingest looks into."""
    damage: tuple[Finding, ...] = field(repr=False)
    """Damaged items with the reasons."""
    has_sound: bool
    """Whether there are recordings, or new files that may be recordings."""
    new_recordings: int
    """Changed files that are recordings by their names."""
    differences: tuple[Difference, ...] = field(compare=False, repr=False)
    """Differences of the sources, for an update that follows at once."""
    settled_parsers: str | None = field(compare=False, repr=False)
    """Digest of the parsers where every item was compared with them and none differs; see `record_comparison`."""
    unrelated: int
    """Documents whose relations were read by other rules than those of the settings."""
    fingerprint: str
    """Digest of the pending work without pages of sites; it changes between two readings while a file grows."""

    @property
    def work(self) -> bool:
        """Whether an ingest would do any work."""
        return bool(self.items or self.newly_unlisted or self.suspicious)

    @property
    def has_other_work(self) -> bool:
        """Whether an ingest would do any work besides changed files and due sites."""
        numbers = self.recordings, self.documents, self.index, self.generations, self.damaged, self.unrelated
        return any(numbers) or self.newly_unlisted or self.suspicious

    @property
    def work_beside_pages(self) -> bool:
        """Whether an ingest would do any work besides due sites."""
        return bool(self.items_beside_pages or self.newly_unlisted or self.suspicious)

    @property
    def is_small(self) -> bool:
        """Whether it is a few documents, and neither pages nor recordings."""
        return not (self.pages or self.recordings or self.has_sound) and self.items <= MOST_SMALL

    @property
    def needs_model(self) -> bool:
        """Whether an ingest may have chunks to embed."""
        return bool(self.readable_files or self.recordings or self.unmade_documents or self.index or self.damaged)

    @property
    def uses_speech(self) -> bool:
        """Whether an ingest would transcribe, or look at what recordings it has transcribed."""
        return bool(self.recordings or self.new_recordings or (self.has_sound and (self.suspicious or self.damaged)))

    @property
    def items(self) -> int:
        """Number of stale items."""
        return max(self.items_beside_pages, self.changed_files + self.gone_files + self.pages)

    @property
    def items_beside_pages(self) -> int:
        """Number of stale items without the pages of due sites."""
        return max(
            self.changed_files + self.gone_files,
            self.recordings,
            self.documents,
            self.index,
            self.generations,
            self.damaged,
            self.unrelated,
        )


def find_pending(
    connection: Connection,
    collection: str,
    selection: Selection = EVERYTHING,
    *,
    compared: dict[int, Difference] | None = None,
) -> Pending:
    """Compare the sources with the ledger by name, size and time, and the stages of the ledger with each other.

    This takes a few set-based queries over what changed since the last run. Content is read only of files that were
    hashed within two seconds of their modification, and of all where the selection is deep. Where there are signs that
    somebody else than the library has changed rows, all of them are compared, and published ones with their sums.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
        selection: part of the collection. Work that concerns all shards alike counts for the first of them alone.
        compared: differences of the sources by their ids, which the shards of a collection share; new ones are added.
    """
    shard = selection.shard
    stands_for_all = is_first(shard)
    compared = {} if compared is None else compared
    listing_errors = {} if shard is None else listing_errors_of(connection, shard)
    suspicion = find_suspicion(connection, collection)
    selection = heightened(selection, suspicion)
    damage = find_every_damage(connection, collection, deep=selection.deep) if selection.thorough else []
    row = connection.execute(queries["pending_removed_sources"], {"collection": collection}).fetchone()
    gone = int(row[0]) if row and stands_for_all else 0
    changed = readable = new_recordings = moving = 0
    unlisted: list[str] = []
    differences: list[Difference] = []
    seen = hashlib.sha256()
    newly_unlisted = False
    has_sound = has_recordings(connection, collection)
    recordings, windows = _pending_recordings(connection, collection, selection) if has_sound else (0, 0)
    for source in collection_sources(connection, collection, selection):
        if source.id not in compared:
            compared[source.id] = compare(connection, source, selection)
        differences.append(compared[source.id])
        (difference,) = of_shard([compared[source.id]], shard)
        for entry in sorted(difference.to_read, key=lambda entry: entry.uri):
            seen.update(f"{entry.uri} {entry.size} {entry.modified}\n".encode())
        for uri in sorted(difference.gone):
            seen.update(f"{uri} gone\n".encode())
        changed += len(difference.to_read)
        readable += sum(_may_hold_text(source, entry) for entry in difference.to_read)
        has_sound = has_sound or any(_may_be_recording(entry.path) for entry in difference.to_read)
        new_recordings += sum(_is_recording(entry.path) for entry in difference.to_read)
        gone += len(difference.gone)
        moving += len(difference.moving)
        known_error = listing_errors.get(source.id) if shard else source.listing_error
        newly_unlisted = newly_unlisted or difference.error != known_error
        if difference.error:
            unlisted.append(difference.error)
    pages = due_pages(connection, collection, selection)
    identities = document_identities(connection, collection)
    items = changed_items(connection, collection, identities, replace(selection, force=False))
    retry_now = selection.only_failed or selection.force
    unmade, orphaned, taken = count_unsettled_items(connection, collection, identities, items, retry_now=retry_now)
    documents = unmade + orphaned
    index, generations = _pending_index(connection, collection, thorough=selection.thorough, shard=shard)
    unrelated = count_unrelated_documents(connection, collection) if stands_for_all else 0
    seen.update(
        f"{unrelated or ''}{recordings} {windows or ''}{documents} {index} {generations} {unlisted}".encode(
            "utf-8", "replace"
        )
    )
    seen.update(f"{[str(finding) for finding in damage] or ''}{suspicion.marks or ''}".encode("utf-8", "replace"))
    return Pending(
        changed_files=changed,
        gone_files=gone,
        moving_files=moving,
        pages=pages.urls,
        recordings=recordings,
        documents=documents,
        index=index,
        generations=generations,
        damaged=len(damage),
        unlisted=tuple(unlisted),
        newly_unlisted=newly_unlisted,
        readable_files=readable,
        unmade_documents=unmade,
        taken_documents=taken,
        suspicious=bool(suspicion),
        damage=tuple(damage),
        has_sound=has_sound,
        new_recordings=new_recordings,
        differences=tuple(differences),
        settled_parsers=items.parsers if items.uris is None and not documents and not shard else None,
        unrelated=unrelated,
        fingerprint=seen.hexdigest()[:32],
    )


def is_small_part(connection: Connection, collection: str, selection: Selection) -> bool:
    """Return whether a part of a collection is a few files of local folders or uploads: no pages, sound or stores."""
    sources = collection_sources(connection, collection, selection)
    if selection.force or not all(each.is_local or each.uploads is not None for each in sources):
        return False
    return find_pending(connection, collection, selection).is_small


def _pending_recordings(connection: Connection, collection: str, selection: Selection) -> tuple[int, int]:
    """Return the number of recordings to transcribe, and of the windows that are done of unfinished transcripts."""
    from sourcebook.stages.transcripts.rows import stale_recordings, transcript_engine  # imports the engines

    engine = transcript_engine(connection, collection)
    stale = stale_recordings(connection, collection, engine, selection)
    number = sum(selection.shard is None or selection.shard.takes(recording.uri) for recording in stale)
    row = connection.execute(queries["unfinished_windows"], {"engine": engine}).fetchone() if number else None
    return number, int(row[0]) if row else 0


def _may_hold_text(source: Source, entry: FileEntry) -> bool:
    if not entry.size or entry.skip_reason is not None or entry.size > source.most_bytes(entry.path):
        return False
    media_type = media_type_of_name(entry.path)
    return media_type is None or is_recording(media_type) or is_taken(media_type)


def _is_recording(name: str) -> bool:
    return is_recording(media_type_of_name(name) or "")


def _may_be_recording(name: str) -> bool:
    media_type = media_type_of_name(name)
    return media_type is None or is_recording(media_type)


def _pending_index(connection: Connection, collection: str, *, thorough: bool, shard: Shard | None) -> tuple[int, int]:
    """Return how many documents are outdated in a generation, and how many generations have to be changed."""
    found = find_generations(connection, collection)
    outdated: set[int] = set()
    steps = len(due_for_retirement(found)) + (found.step != "none")
    followed = [] if found.active is None else [found.active]
    if found.step == "none" and found.building is not None:
        followed.append(found.building)
    for generation in followed:
        ids = changed_documents(connection, generation, thorough=thorough, shard=shard).ids
        unsettled = unsettled_documents(connection, collection, generation, ids)
        if not unsettled and not generation.is_active:
            is_ready = shard is None or is_whole(connection, generation)
            steps += is_ready and found.rules.activate == "automatic" and not found.is_blocked
        outdated.update(unsettled)
    if found.step == "build":
        every = None if shard is None else documents_in(connection, shard)
        outdated.update(unsettled_documents(connection, collection, None, every))
    return len(outdated), steps if is_first(shard) else 0

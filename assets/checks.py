"""Asset checks of a collection, run after every ingest."""

import warnings
from collections.abc import Iterator
from typing import Any

import dagster as dg

from assets import evaluation_check, generation_check
from assets.materialization import one_line
from resources.finished import finished_checks
from resources.knowledge import Knowledge
from resources.partition import collection_partitions, parts_of
from resources.selection import RunSelection
from sourcebook.admin.checks import KNOWN_LANGUAGES, CheckOutcome, run_checks
from sourcebook.database.lock import is_at_rest
from sourcebook.model.counted import counted

_SEVERITY = dict.fromkeys(
    (
        "no_failed_items",
        "little_text_is_left_out",
        "types_keep_their_promises",
        "front_matter_is_read",
        KNOWN_LANGUAGES,
    ),
    dg.AssetCheckSeverity.WARN,
)
_VIOLATIONS = {
    "no_failed_items": ("failed item", "failed items"),
    "little_text_is_left_out": (
        "document without much of its text",
        "documents without much of their text",
    ),
    "types_keep_their_promises": (
        "document without metadata that its type promises",
        "documents without metadata that their type promises",
    ),
    "front_matter_is_read": (
        "document with front matter that cannot be read (mend the named line)",
        "documents with front matter that cannot be read (mend the named lines)",
    ),
    "every_character_is_in_a_passage": (
        "document with text outside of passages",
        "documents with text outside of passages",
    ),
    "every_live_document_is_searchable": ("document that is not searchable", "documents that are not searchable"),
    KNOWN_LANGUAGES: (
        "document in a language that the embedding model does not know (set embedding.model)",
        "documents in languages that the embedding model does not know (set embedding.model)",
    ),
    "nothing_is_damaged": ("damaged item", "damaged items"),
    "no_orphan_or_null_vector": ("entry without chunk or vector", "entries without chunk or vector"),
}
"""Nouns for one violation of each check and for several."""


def _spec(name: str, asset: str, description: str, *, blocking: bool = False) -> dg.AssetCheckSpec:
    with warnings.catch_warnings():
        # Checks by partition are a preview in this Dagster, which warns at every import.
        warnings.simplefilter("ignore", dg.PreviewWarning)
        return dg.AssetCheckSpec(
            name, asset=asset, partitions_def=collection_partitions, description=description, blocking=blocking
        )


_SPECS = [
    _spec("no_failed_items", "documents", "No file, document or source is in a failed state."),
    _spec(
        "little_text_is_left_out",
        "documents",
        "No document loses more than a tenth of its characters as headers or hidden text; what is left out is counted.",
    ),
    _spec(
        "types_keep_their_promises",
        "documents",
        "Every document has the metadata fields that its type promises in the settings.",
    ),
    _spec(
        "front_matter_is_read",
        "documents",
        "The front matter of every Markdown file can be read, so that no tag, type or relation in it is lost.",
    ),
    _spec(
        "every_character_is_in_a_passage",
        "chunks",
        "The passages of every document together hold all of its content.",
    ),
    _spec(
        KNOWN_LANGUAGES,
        "embeddings",
        "The embedding model knows the languages of the documents; sourcebook status names the remedy.",
    ),
    _spec(
        "every_live_document_is_searchable",
        "search_index",
        "Every document that has content is published in its newest version, with all its chunks.",
        blocking=True,
    ),
    _spec(
        "no_orphan_or_null_vector",
        "search_index",
        "Every entry belongs to a chunk of a live document and has a non-zero vector of the right dimension.",
        blocking=True,
    ),
    _spec(
        "nothing_is_damaged",
        "search_index",
        "Every row is the one that was written, by its seal and the sums of its document.",
    ),
    _spec(evaluation_check.NAME, "search_index", evaluation_check.DESCRIPTION),
    _spec(generation_check.NAME, "index_upkeep", generation_check.DESCRIPTION),
]


@dg.multi_asset_check(name="collection_checks", specs=_SPECS, can_subset=True)
def collection_checks(
    context: dg.AssetCheckExecutionContext, knowledge: Knowledge, selection: RunSelection
) -> Iterator[dg.AssetCheckResult]:
    """Run the selected checks of the collection, over what changed since the last ones or, at night, over everything.

    A run of checks alone, without an asset, looks at everything, too. While other shards of the collection are being
    worked on, the run of a shard checks its own documents alone: the last one checks the collection.
    """
    collection, shard = parts_of(context)
    selected = {key.name: key.asset_key for key in context.selected_asset_check_keys}
    is_alone = context.run.asset_selection is not None and not context.run.asset_selection
    with knowledge.database.connection() as connection:
        is_last = shard is None or is_at_rest(connection, collection)
        outcomes = finished_checks(context.run.run_id) or run_checks(
            connection, collection, thorough=selection.thorough or is_alone, shard=shard, is_last=is_last
        )
        for outcome in outcomes:
            if outcome.name in selected:
                yield _result(outcome, selected[outcome.name])
        if not is_last:
            return
        if generation_check.NAME in selected:
            yield generation_check.check_next_generation(connection, collection)
    if evaluation_check.NAME in selected:
        yield evaluation_check.check_search(context, knowledge)


def _result(outcome: CheckOutcome, asset_key: dg.AssetKey) -> dg.AssetCheckResult:
    metadata: dict[str, dg.MetadataValue[Any]] = {"violations": dg.MetadataValue.int(outcome.violations)}
    if outcome.examples:
        metadata["examples"] = dg.MetadataValue.md("\n".join(f"- {one_line(each)}" for each in outcome.examples))
    if outcome.note:
        metadata["left_out"] = dg.MetadataValue.text(outcome.note)
    return dg.AssetCheckResult(
        passed=not outcome.violations,
        asset_key=asset_key,
        check_name=outcome.name,
        severity=_SEVERITY.get(outcome.name, dg.AssetCheckSeverity.ERROR),
        description=_sentence(outcome) if outcome.violations else None,
        metadata=metadata,
    )


def _sentence(outcome: CheckOutcome) -> str:
    """Return what is violated, with the first example."""
    more = ", …" if outcome.violations > 1 else ""
    return f"{counted(outcome.violations, *_VIOLATIONS[outcome.name])}: {outcome.examples[0]}{more}"

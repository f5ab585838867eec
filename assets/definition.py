"""The properties that all assets of the pipeline share: partitions, owner, code version, freshness and description."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any

import dagster as dg

from resources.partition import collection_partitions
from sourcebook.database.schema import newest_version
from sourcebook.model import revisions
from sourcebook.parsing.registry import parsers_revision

OWNER = "team:sourcebook"
DOCUMENTATION = "docs/assets.md"
_FRESH = dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=50), warn_window=timedelta(hours=26))
"""The schedule `nightly` materializes every asset once a day: a warning after one missed night, a failure after two."""
_AT_THE_BEGINNING = {
    "added": "new {items}",
    "changed": "{items} whose content differs from the last run's",
    "unchanged": "{items} that stay as they were",
    "removed": "{items} that are gone",
    "failed": "{items} that failed in this run; the table `failures` has the reasons",
}
_AT_THE_END = {"total": "{items} after the run, without failed ones", "seconds": "duration of the work"}
"""Meanings of the counts that every materialization has, by name; those of a single asset stand in between."""


def _code_versions() -> dict[str, str]:
    """Return the revision of each asset's code, as the ledger records it beside the results."""
    schema = f"schema/{newest_version()}"
    return {
        "raw_files": schema,
        "crawled_pages": f"cleaner/{revisions.CLEANER}",
        "transcripts": f"probe/{revisions.PROBE}+decoding/{revisions.DECODING}",
        "documents": f"parsers/{parsers_revision()}",
        "chunks": f"chunker/{revisions.CHUNKER}",
        "embeddings": schema,
        "search_index": schema,
        "index_upkeep": schema,
    }


CODE_VERSIONS = _code_versions()


def collection_asset(
    *,
    group: str,
    kinds: Iterable[str],
    work: str,
    items: str,
    counts: Mapping[str, str],
    deps: Iterable[dg.AssetKey | str] = (),
    pool: str | None = None,
) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
    """Return the decorator of an asset with a partition for each collection.

    Args:
        group: group of the graph: sources, documents or index.
        kinds: technologies beside PostgreSQL, of those that Dagster's web page has an icon for.
        work: resource that the asset mainly uses: disk, network, processor or database.
        items: the counted things, in the plural.
        counts: meanings of counts by name, beside those that every asset has.
        deps: assets upstream.
        pool: pool that limits concurrent runs.
    """

    def define(compute: Callable[..., Any]) -> dg.AssetsDefinition:
        name = compute.__name__
        # No backfill policy: so a backfill starts a run for each collection with the tag `dagster/partition`, by which
        # runs of one collection exclude each other. With `BackfillPolicy.multi_run(1)` runs lack this tag.
        return dg.asset(
            description=_describe(compute, items, counts),
            deps=list(deps),
            partitions_def=collection_partitions,
            group_name=group,
            kinds={*kinds, "postgres"},
            code_version=CODE_VERSIONS[name],
            owners=[OWNER],
            tags={"sourcebook/work": work},
            metadata={"documentation": dg.MetadataValue.path(f"{DOCUMENTATION}#{name}")},
            freshness_policy=_FRESH,
            pool=pool,
        )(compute)

    return define


def _describe(compute: Callable[..., Any], items: str, counts: Mapping[str, str]) -> str:
    """Return the description of an asset: the docstring of its function, and a table of its counts.

    Args:
        compute: the function of the asset.
        items: the counted things, in the plural.
        counts: meanings of further counts by name; they also replace those of `added` to `failed`.
    """
    meanings = {**_AT_THE_BEGINNING, **counts, **_AT_THE_END}
    rows = [f"| `{name}` | {meaning.format(items=items)} |" for name, meaning in meanings.items()]
    return "\n".join([inspect.getdoc(compute) or "", "", "| count | meaning |", "|---|---|", *rows])

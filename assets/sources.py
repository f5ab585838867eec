"""The sources of collections as external assets: the configuration file, folders and web sites.

The pipeline reads them and never writes them. Sensors report their changes, so importing this file opens no database.
"""

from collections.abc import Callable, Iterator

import dagster as dg

from assets.definition import OWNER
from resources.knowledge import Knowledge
from resources.partition import collection_partitions
from resources.source_events import CONFIGURATION, FOLDERS, FRESH, RECORDS, SITES, VALID, describe_by_collection
from sourcebook.admin.overdue import describe_overdue
from sourcebook.config.loading import Configuration, load_configuration
from sourcebook.errors import ConfigurationError

SOURCES = [
    dg.AssetSpec(
        CONFIGURATION,
        description="The file sourcebook.yaml: collections, their sources and settings. A file with a mistake changes "
        "nothing, and the last good configuration stays in force.",
        group_name="sources",
        kinds={"yaml"},
        owners=[OWNER],
        metadata={"documentation": dg.MetadataValue.path("docs/configuration.md")},
    ),
    dg.AssetSpec(
        FOLDERS,
        deps=[CONFIGURATION],
        description="The folders and stores of a collection. An observation of the sensor `changed_files` counts what "
        "differs from the ledger.\n\n| count | meaning |\n|---|---|\n"
        "| `new_or_changed_files` | files that are new, or differ in size or time |\n"
        "| `gone_files` | files that are gone |\n"
        "| `stale_documents` | documents that wait to be parsed or indexed |",
        group_name="sources",
        kinds={"file", "source"},
        owners=[OWNER],
        metadata={"documentation": dg.MetadataValue.path("docs/formats.md")},
        partitions_def=collection_partitions,
    ),
    dg.AssetSpec(
        SITES,
        deps=[CONFIGURATION],
        description="The web sites of a collection. An observation of the sensor `due_pages` counts what is due.\n\n"
        "| count | meaning |\n|---|---|\n| `due_urls` | URLs that a crawl would request now |",
        group_name="sources",
        kinds={"source"},
        owners=[OWNER],
        metadata={"documentation": dg.MetadataValue.path("docs/sites.md")},
        partitions_def=collection_partitions,
    ),
]


def record_assets(load: Callable[[], Configuration] = load_configuration) -> list[dg.AssetSpec]:
    """Return the tables and programs of collections, downstream of the assets that `depends_on` of a source names.

    Args:
        load: returns the configuration.
    """
    try:
        collections = list(load().collections.values())
    except ConfigurationError:  # the sensor `collections` reports it
        collections = []
    upstream = dict.fromkeys(key for each in collections for records in each.records for key in records.depends_on)
    return [
        dg.AssetSpec(
            RECORDS,
            deps=[CONFIGURATION, *(dg.AssetKey(key.split("/")) for key in upstream)],
            description="The tables and programs of a collection. The sensor `changed_records` looks at them when "
            "their interval has passed, and when an asset upstream was materialized.\n\n| count | meaning |\n"
            "|---|---|\n"
            "| `changed_records` | records that are new, changed or gone, observed on `source_folders` |",
            group_name="sources",
            kinds={"table", "source"},
            owners=[OWNER],
            metadata={"documentation": dg.MetadataValue.path("docs/records.md")},
            partitions_def=collection_partitions,
        )
    ]


@dg.asset_check(
    asset=CONFIGURATION,
    name=VALID,
    description="The configuration file has no mistake. The sensor `collections` evaluates this check.",
)
def configuration_is_valid(knowledge: Knowledge) -> dg.AssetCheckResult:
    """Apply the configuration file and report its mistake."""
    with knowledge.database.connection() as connection:
        mistake = knowledge.apply_configuration(connection)
    return dg.AssetCheckResult(passed=mistake is None, description=mistake, severity=dg.AssetCheckSeverity.ERROR)


@dg.multi_asset_check(
    name="source_checks",
    specs=[
        dg.AssetCheckSpec(
            FRESH[FOLDERS],
            asset=FOLDERS,
            description="Every folder was listed completely within two days, and no change waits for ten minutes.",
        ),
        dg.AssetCheckSpec(
            FRESH[SITES],
            asset=SITES,
            description="Every site was crawled completely within twice its setting `refresh`.",
        ),
    ],
    can_subset=True,
)
def sources_are_fresh(context: dg.AssetCheckExecutionContext, knowledge: Knowledge) -> Iterator[dg.AssetCheckResult]:
    """Compare the age of the last complete listing or crawl with the setting. The sensors evaluate these checks."""
    with knowledge.database.connection() as connection:
        for key in sorted(context.selected_asset_check_keys):
            overdue = describe_by_collection(describe_overdue(connection, key.asset_key.path[-1]))
            yield dg.AssetCheckResult(
                passed=overdue is None,
                asset_key=key.asset_key,
                check_name=key.name,
                description=overdue,
                severity=dg.AssetCheckSeverity.WARN,
            )

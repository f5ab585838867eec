"""The properties of the assets that Dagster shows: owners, code versions, kinds, links, freshness, backfills."""

import ast
import re
from pathlib import Path

import dagster as dg
import dagster_webserver
import pytest

from assets.materialization import materialization
from orchestration.definitions import defs
from orchestration.jobs import ASSETS
from sourcebook.errors import FailureClass
from sourcebook.model.report import StageReport
from tests.checkout import CHECKOUT

SPECS = {spec.key.to_user_string(): spec for spec in defs.resolve_all_asset_specs()}
PIPELINE = sorted(asset.key.to_user_string() for asset in ASSETS)
DAGSTER_FOLDERS = ("assets", "orchestration", "resources", "sensors", "tests", "benchmarks")


@pytest.mark.parametrize("name", PIPELINE)
def test_every_asset_of_the_pipeline_says_what_made_it(name: str) -> None:
    """Code version, owner, tags, freshness and one run a partition in a backfill."""
    spec = SPECS[name]
    assert spec.code_version
    assert spec.owners
    assert spec.tags["sourcebook/work"] in {"disk", "network", "processor", "database"}
    assert isinstance(spec.freshness_policy, dg.FreshnessPolicy)
    (asset,) = [asset for asset in ASSETS if asset.key == spec.key]
    assert asset.backfill_policy is None, "a backfill starts a run for each collection, with its partition as a tag"


@pytest.mark.parametrize("name", sorted(SPECS))
def test_descriptions_explain_the_counts_and_lead_to_the_docs(name: str) -> None:
    """The description has a table of the counts; the link names a page of the docs that names the asset."""
    spec = SPECS[name]
    if name != "configuration":
        assert "| count | meaning |" in str(spec.description)
    page, _, anchor = str(spec.metadata["documentation"].value).partition("#")
    assert f"`{anchor or name}`" in (CHECKOUT / page).read_text() or not anchor


@pytest.mark.parametrize("name", PIPELINE)
def test_the_description_explains_every_count_of_the_stage(name: str) -> None:
    """The names that the code of a stage counts are those in the table."""
    stages = CHECKOUT / "sourcebook" / "stages"
    files = [*(stages / name).glob("*.py"), *stages.glob(f"{name}.py")]
    files += [CHECKOUT / "sourcebook" / "web" / "crawl.py"] if name == "crawled_pages" else []
    assert files
    counted = set(StageReport().counts()) | {"total"}
    for file in files:
        counted.update(re.findall(r'(?:\.count\(|counts\[|extra\[)"(\w+)"', file.read_text()))
    told = set(re.findall(r"^\| `(\w+)` \|", str(SPECS[name].description), re.MULTILINE))
    assert counted <= told


def test_the_revision_of_the_ledger_is_the_code_version() -> None:
    """A new revision of the chunker changes the code version of `chunks`, as it does the ledger's configuration."""
    from sourcebook.model import revisions

    assert SPECS["chunks"].code_version == f"chunker/{revisions.CHUNKER}"
    assert SPECS["crawled_pages"].code_version == f"cleaner/{revisions.CLEANER}"


def test_lineage_begins_at_the_sources() -> None:
    """Folders, records, sites and the configuration are external assets, upstream of the inventory and the crawl."""
    graph = defs.resolve_asset_graph()
    for name in ("configuration", "source_folders", "source_records", "source_sites"):
        node = graph.get(dg.AssetKey(name))
        assert node.is_external
        assert node.group_name == "sources"
    assert graph.get(dg.AssetKey("raw_files")).parent_keys == {
        dg.AssetKey("source_folders"),
        dg.AssetKey("source_records"),
    }
    assert graph.get(dg.AssetKey("crawled_pages")).parent_keys == {dg.AssetKey("source_sites")}


def test_every_kind_has_an_icon_on_the_web_page() -> None:
    """The icons are those in the installed web server: a kind without one is shown as a grey word."""
    built = Path(dagster_webserver.__file__).parent / "webapp" / "build"
    known: set[str] = set()
    for script in built.rglob("*.js"):
        known.update(re.findall(r'[,{]"?([a-z0-9_ -]+)"?:\{icon:', script.read_text(errors="replace")))
    assert "postgres" in known, "the icons are looked for in the wrong place"
    for name, spec in SPECS.items():
        assert spec.kinds, name
        assert spec.kinds <= known, name


def test_checks_of_the_published_index_block() -> None:
    """Broken invariants of the index stop its upkeep; a failed item or a low score does not."""
    graph = defs.resolve_asset_graph()
    blocking = {key.name for key in graph.asset_check_keys if graph.get(key).blocking}
    assert blocking == {"every_live_document_is_searchable", "no_orphan_or_null_vector"}


def test_a_materialization_has_totals_a_preview_and_a_table_of_failures() -> None:
    """Numbers are plotted by name; titles with marks of Markdown stay titles."""
    report = StageReport(added=2, changed=1, unchanged=4)
    report.note("Tides | of `1961`", "file:///docs/tides.md")
    report.note("Gales [north]", "https://example.org/gales (1)")
    report.fail("file:///docs/bad.docx", "it is damaged", FailureClass.CORRUPT)
    metadata = materialization(report.finish("v1")).metadata or {}
    assert metadata["total"] == dg.MetadataValue.int(7)
    assert metadata["newest"] == dg.MetadataValue.md(
        "- [Gales (north)](https://example.org/gales%20%281%29)\n- Tides \\| of '1961': `file:///docs/tides.md`"
    )
    failures = metadata["failures"]
    assert isinstance(failures, dg.TableMetadataValue)
    (record,) = failures.records
    assert record.data == {"item": "file:///docs/bad.docx", "class": "corrupt", "reason": "it is damaged"}


def test_no_private_module_of_dagster_is_imported() -> None:
    """No import, no setting and no command names a module `dagster._…`, which may go with any release.

    `instance.py` has the one name that Dagster documents for a dagster.yaml without captured output.
    """
    found = []
    for folder in DAGSTER_FOLDERS:
        for file in (CHECKOUT / folder).rglob("*.py"):
            text = file.read_text()
            found += [
                f"{file.relative_to(CHECKOUT)}: {name}"
                for name in re.findall(r"dagster\._[\w.]+", text)
                if name != "dagster._core.storage.noop_compute_log_manager"
            ]
            # A file in which nothing of this kind is written need not be parsed.
            for node in ast.walk(ast.parse(text)) if re.search(r"\bdagster\S*\._", text) else ():
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                found += [
                    f"{file.relative_to(CHECKOUT)}: {name}"
                    for name in names
                    if re.fullmatch(r"dagster(_\w+)?(\.\w+)*\._\w+(\.\w+)*", name)
                ]
        for file in (CHECKOUT / folder).rglob("*.yaml"):
            found += [f"{file}: {line}" for line in file.read_text().splitlines() if "dagster._" in line]
    assert found == []

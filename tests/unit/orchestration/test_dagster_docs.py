"""docs/dagster.md as a reader types it: names are those of the definitions, the component loads, examples run."""

import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

import sourcebook
from orchestration.definitions import defs
from orchestration.embedding.component import Collection
from orchestration.embedding.definitions import SENSORS, sourcebook_definitions
from sourcebook.errors import ConfigurationError
from tests.checkout import CHECKOUT

PAGE = (CHECKOUT / "docs" / "dagster.md").read_text()
GIVEN = {"collections": {"handbook": {"files": [{"root": "./docs"}]}}}
TYPED = "type: sourcebook.Collection\nattributes:\n  files: [{root: ./documents}]\n"
Project = Callable[..., dg.Definitions]


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("SOURCEBOOK_CONFIG", "SOURCEBOOK_HOME", "SOURCEBOOK_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Make a project of `create-dagster` with a component for each argument, and load it as `dg` does."""
    package = f"team_{re.sub(r'[^a-z0-9]', '_', tmp_path.name.lower())}"
    root = tmp_path / "src" / package
    monkeypatch.syspath_prepend(str(tmp_path / "src"))

    def load(**components: str) -> dg.Definitions:
        (tmp_path / "pyproject.toml").write_text(
            f'[tool.dg]\ndirectory_type = "project"\n[tool.dg.project]\nroot_module = "{package}"\n'
        )
        for name, text in components.items():
            (root / "defs" / name).mkdir(parents=True)
            (root / "defs" / name / "defs.yaml").write_text(text)
        (root / "__init__.py").touch()
        (root / "defs" / "__init__.py").touch()
        importlib.invalidate_caches()
        return dg.load_from_defs_folder(path_within_project=root)

    return load


def code(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def refusal(load: Callable[[], object]) -> str:
    """Return what Dagster says of components that cannot be loaded: its own message, and the reason behind it."""
    with pytest.raises(Exception) as refused:  # noqa: PT011 - the message is looked at
        load()
    said = ""
    error: BaseException | None = refused.value
    while error is not None:
        said, error = f"{said}\n{error}", error.__cause__
    return said


def test_the_table_has_every_name() -> None:
    repository = sourcebook_definitions(GIVEN).get_repository_def()
    told = {row[0]: row[1] for row in re.findall(r"^\| (\w+) \| (.+) \|$", PAGE, flags=re.MULTILINE)}
    names = {kind: set(re.findall("`([^`]+)`", text)) for kind, text in told.items()}
    assert names["sensors"] == {sensor.name for sensor in repository.sensor_defs}
    assert names["schedules"] == {schedule.name for schedule in repository.schedule_defs}
    assert names["jobs"] == {job.name for job in repository.get_all_jobs() if not job.name.startswith("__")}
    assert names["resources"] == set(repository.get_top_level_resources())
    assert names["assets"] - {"sourcebook_collection"} <= {
        key.to_user_string() for key in repository.asset_graph.get_all_asset_keys()
    }


def test_a_location_with_every_name_of_sourcebook_takes_it_in() -> None:
    """Assets, jobs, sensors, schedules, resources and partitions of the team have the names that Sourcebook's have."""
    from orchestration.definitions import defs

    merged = dg.Definitions.merge(defs, sourcebook_definitions(GIVEN), sourcebook_definitions(GIVEN, prefix="kb"))
    dg.Definitions.validate_loadable(merged)
    graph = merged.resolve_asset_graph()
    kinds = {graph.get(key).partitions_def for key in graph.get_all_asset_keys() if key.path[-1] == "documents"}
    assert {kind.name for kind in kinds if isinstance(kind, dg.DynamicPartitionsDefinition)} == {
        "collection",
        "sourcebook_collection",
        "kb_collection",
    }
    assert graph.get(dg.AssetKey(["kb", "search_index"])).parent_keys == {dg.AssetKey(["kb", "embeddings"])}
    for key in graph.asset_check_keys:
        assert graph.get(key).blocking == (
            key.name in {"every_live_document_is_searchable", "no_orphan_or_null_vector"}
        )


def test_records_stand_behind_an_asset_of_the_team() -> None:
    """`depends_on` is a key of theirs, also where an asset of Sourcebook has the same name."""
    source = {"name": "notes", "table": {"url": "sqlite:///notes.db", "name": "notes"}, "key": "id", "text": "body"}
    records = [{**source, "depends_on": ["documents", "dbt/notes"]}]
    graph = sourcebook_definitions({"collections": {"notes": {"records": records}}}).resolve_asset_graph()
    assert graph.get(dg.AssetKey(["sourcebook", "source_records"])).parent_keys == {
        dg.AssetKey(["sourcebook", "configuration"]),
        dg.AssetKey("documents"),
        dg.AssetKey(["dbt", "notes"]),
    }


def test_schedules_start_in_the_time_zone_and_assets_stand_in_one_group() -> None:
    repository = sourcebook_definitions({**GIVEN, "time_zone": "Asia/Tokyo"}, group="knowledge").get_repository_def()
    assert {schedule.execution_timezone for schedule in repository.schedule_defs} == {"Asia/Tokyo"}
    graph = repository.asset_graph
    assert {graph.get(key).group_name for key in graph.get_all_asset_keys()} == {"knowledge"}


@pytest.mark.parametrize(("name", "word"), [("prefix", "no-dash"), ("prefix", ""), ("group", "ä"), ("prefix", "1a")])
def test_a_name_that_dagster_refuses_is_refused_with_what_it_is(name: str, word: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{name} is {word!r}"):
        sourcebook_definitions(GIVEN, **{name: word})


def test_a_mistake_in_what_is_given_names_the_key() -> None:
    with pytest.raises(ConfigurationError, match="there is no such key; allowed: root, include"):
        sourcebook_definitions({"collections": {"handbook": {"files": [{"rot": "./docs"}]}}})


@pytest.mark.filterwarnings("ignore:Parameter `execution_type` of function")  # Dagster's own call
def test_the_component_of_the_page_loads(project: Project) -> None:
    (typed,) = code("yaml")
    assert {key.path[0] for key in project(handbook=typed).resolve_all_asset_keys()} == {"sourcebook"}


def test_collections_of_a_project_are_one_knowledge_base(project: Project, tmp_path: Path) -> None:
    """Each beside its own file; names by folder or as given; texts from the environment; one set of assets."""
    zone = "  time_zone: Asia/Tokyo\n"
    named = TYPED.replace("./documents", "'{{ env.DOCUMENTS }}'") + "  name: recordings\n" + zone
    template = "{{ body }}{% for each in comments %}{{ each }}{% endfor %}"
    named += f"  records: [{{name: notes, pushed: true, key: id, template: '{template}'}}]\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCUMENTS", "/srv/talks")
        defs = project(handbook=TYPED, talks=named)
        defs.get_repository_def()
    knowledge = (defs.resources or {})["sourcebook_knowledge"]
    found = {name: each.files[0].location for name, each in knowledge.configuration().collections.items()}
    (folder,) = tmp_path.glob("src/*/defs/handbook")
    assert found == {"handbook": str((folder / "documents").resolve()), "recordings": "/srv/talks"}
    assert knowledge.configuration().collections["recordings"].records[0].template == template
    assert knowledge.home == tmp_path / ".sourcebook"
    assert {schedule.execution_timezone for schedule in defs.get_repository_def().schedule_defs} == {"Asia/Tokyo"}


@pytest.mark.parametrize(
    ("talks", "reason"),
    [
        (TYPED + "  name: handbook\n", "two components are collections of one name: handbook"),
        (TYPED + "  time_zone: Tokio\n", "did you mean Asia/Tokyo"),
        (TYPED.replace("root", "rot"), "there is no such key; allowed: root"),
        (TYPED + "  name: '../x'\n", "the name of the collection is '../x'; allowed: 1 to 63 letters"),
        ("type: sourcebook.Collection\n", "files"),
        (TYPED.replace("files", "fils"), "fils"),
    ],
)
def test_a_mistake_in_a_component_is_said_with_its_file(project: Project, talks: str, reason: str) -> None:
    assert reason in refusal(lambda: project(handbook=TYPED, talks=talks).get_repository_def())


def test_time_zones_that_differ_are_refused(project: Project) -> None:
    written = {"handbook": TYPED + "  time_zone: UTC\n", "talks": TYPED + "  time_zone: Asia/Tokyo\n"}
    said = refusal(lambda: project(**written).get_repository_def())
    assert "time_zone differs: Asia/Tokyo, UTC" in said


def test_the_examples_of_the_page_run(tmp_path: Path) -> None:
    (tmp_path / "sourcebook.yaml").write_text("collections: {handbook: {files: [{root: ./docs}]}}\n")
    merging, reading = code("python")
    there: dict[str, object] = {}
    exec(merging, there)  # noqa: S102 - the page's own
    exec(reading, there)  # noqa: S102
    defs, digest = there["defs"], there["digest"]
    assert isinstance(defs, dg.Definitions)
    assert isinstance(digest, dg.AssetsDefinition)
    assert dg.AssetKey(["kb", "search_index"]) in defs.resolve_all_asset_keys()
    assert digest.required_resource_keys - {"io_manager"} <= set(sourcebook_definitions(GIVEN).resources or {})


def test_the_component_is_registered() -> None:
    """`dg` finds it among the names of the module that the entry point of the distribution has."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["dagster_dg_cli.registry_modules"] == {"sourcebook": "sourcebook"}
    assert "Collection" in dir(sourcebook)
    assert getattr(sourcebook, "Collection") is Collection  # noqa: B009 - it is no part of the typed API
    alone = "import sourcebook, sys; assert 'Collection' not in dir(sourcebook); assert 'dagster' not in sys.modules"
    subprocess.run([sys.executable, "-c", alone], cwd=CHECKOUT, check=True, timeout=60)


def test_every_sensor_stands_in_both_ways_into_dagster() -> None:
    """A sensor of `sensors/` is in the code location, and in the definitions for a team's own project."""
    found = {
        each.name
        for path in (CHECKOUT / "sensors").glob("*.py")
        for each in vars(importlib.import_module(f"sensors.{path.stem}")).values()
        if isinstance(each, dg.SensorDefinition)
    }
    assert len(found) > 5
    assert {each.name for each in defs.sensors or ()} == found
    assert {each.name for each in SENSORS} == found

"""The files of the two ways to run must agree with each other: nothing checks them before somebody deploys."""

import re
from collections.abc import Mapping
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import typer.main
from packaging.specifiers import SpecifierSet
from ruamel.yaml import YAML
from typer.core import TyperGroup

from sourcebook.admin.access_keys import FIRST_KEY
from sourcebook.command.app import app
from sourcebook.config.loading import load_configuration
from tests.checkout import CHECKOUT


def read_yaml(path: str) -> Any:
    return YAML(typ="safe", pure=True).load(CHECKOUT / path)


@pytest.fixture(scope="module")
def services() -> Mapping[str, Any]:
    services: Mapping[str, Any] = read_yaml("docker-compose.yml")["services"]
    return services


@pytest.fixture(scope="module")
def dockerfile() -> str:
    return (CHECKOUT / "Dockerfile").read_text()


def option(command: str, name: str) -> str:
    found = re.search(rf" {name} (\S+)", command)
    assert found, f"{command!r} has no {name}"
    return found[1]


def mounts(service: Mapping[str, Any]) -> dict[str, str]:
    """From each path inside the container to what is mounted there."""
    parts = (re.fullmatch(r"(.+?):(/[^:]+?)(:ro)?", volume) for volume in service.get("volumes", []))
    return {part[2]: part[1] + (part[3] or "") for part in parts if part}


class TestCompose:
    def test_the_services_are_there_and_each_is_watched(self, services: Mapping[str, Any]) -> None:
        """Every service has a health check, and starts after what it needs is healthy."""
        assert set(services) == {"postgres", "serve", "worker", "code", "webserver", "daemon", "metrics"}
        for name, service in services.items():
            check = service["healthcheck"]
            assert {"test", "interval", "timeout", "start_period", "retries"} <= check.keys(), name
            for needed, condition in service.get("depends_on", {}).items():
                assert condition == {"condition": "service_healthy"}, (name, needed)

    def test_a_service_whose_process_ends_is_started_again(self, services: Mapping[str, Any], dockerfile: str) -> None:
        """The main process does the work: a proxy, as `dagster code-server start` is, would go on without it."""
        assert {service["restart"] for service in services.values()} == {"unless-stopped"}
        assert services["code"]["command"].startswith("python -m orchestration.dagster_process dagster api grpc ")
        assert 'CMD ["python", "-m", "orchestration.dagster_process", "dagster", "api", "grpc",' in dockerfile

    def test_no_service_runs_as_root_or_can_become_it(self, services: Mapping[str, Any], dockerfile: str) -> None:
        """The image's user is not root, no service asks for another, and capabilities are dropped."""
        users = re.findall(r"^USER (\S+)$", dockerfile, re.MULTILINE)
        assert users
        assert users[-1] not in {"root", "0"}
        for name, service in services.items():
            assert "user" not in service or name == "postgres"
            assert service["cap_drop"] == ["ALL"]
            assert service["security_opt"] == ["no-new-privileges:true"]
        assert services["postgres"]["user"] == "postgres"

    def test_no_secret_is_written_down(self) -> None:
        """The password comes from the environment, and its absence stops `docker compose up` with a sentence."""
        text = (CHECKOUT / "docker-compose.yml").read_text()
        uses = re.findall(r"\$\{POSTGRES_PASSWORD(.*?)\}", text)
        assert uses
        assert all(use.startswith(":?") for use in uses)
        for line in text.splitlines():
            if "PASSWORD:" in line:
                assert "${POSTGRES_PASSWORD:?" in line
        assert not re.search(r"postgresql://[^@\s]*:[^@\s]*@", text), "a URL with a password in it"

    def test_pages_and_metrics_are_reached_from_this_machine_only(self, services: Mapping[str, Any]) -> None:
        """Nothing in front of the web server and the metrics asks who one is, and nothing encrypts what is served."""
        published = {name: service["ports"] for name, service in services.items() if "ports" in service}
        assert published.keys() == {"webserver", "metrics", "serve"}
        for name, flag in (("webserver", "-p"), ("metrics", "--metrics-port"), ("serve", "--port")):
            (port,) = published[name]
            assert port.startswith("127.0.0.1:")
            assert port.endswith(":" + option(services[name]["command"], flag))

    def test_documents_and_configuration_cannot_be_written(self, services: Mapping[str, Any]) -> None:
        """What belongs to the person is mounted read-only, and the configuration names the folder it is mounted at."""
        mounted = mounts(services["code"])
        assert mounted["/documents"].endswith(":ro")
        configuration = Path(services["code"]["environment"]["SOURCEBOOK_CONFIG"])
        assert mounted[str(configuration.parent)].endswith(":ro")
        shipped = load_configuration(CHECKOUT / "deploy" / "configuration" / configuration.name)
        assert [s.location for c in shipped.collections.values() for s in c.files] == ["/documents"]

    def test_searches_are_answered_to_whoever_has_a_key(self, services: Mapping[str, Any]) -> None:
        """The server listens on every address, where it asks for keys; the worker does its work; both share uploads."""
        serve, worker, code = (services[name] for name in ("serve", "worker", "code"))
        assert option(serve["command"], "--host") == "0.0.0.0"  # noqa: S104 - of the container
        assert " --no-work" in serve["command"]
        assert " --host" not in worker["command"]
        assert " --no-work" not in worker["command"]
        assert serve["environment"][FIRST_KEY] == f"${{{FIRST_KEY}:-}}"
        assert FIRST_KEY not in worker["environment"]
        for service in (serve, worker):
            assert mounts(service).items() <= mounts(code).items()
            assert mounts(service)["/var/lib/sourcebook"] == "state"
            assert service["environment"]["SOURCEBOOK_FOLDERS"] in mounts(service)
            assert code["environment"].items() <= service["environment"].items()
            assert f":{option(service['command'], '--port')}/ready" in service["healthcheck"]["test"][-1]

    def test_commands_of_services_are_read_by_the_command(self, services: Mapping[str, Any]) -> None:
        for name in ("serve", "worker"):
            program, action, *options = services[name]["command"].split()
            assert program == "sourcebook"
            group = typer.main.get_command(app)
            assert isinstance(group, TyperGroup)
            assert group.commands[action].make_context(action, options).params["port"] == 8320

    def test_default_mounts_exist(self, services: Mapping[str, Any]) -> None:
        """A folder that is missing would be made by Docker, empty and owned by root."""
        for service in services.values():
            for volume in service.get("volumes", []):
                local = re.match(r"(?:\$\{\w+:-)?(\./[^:}]+)", volume)
                assert local is None or (CHECKOUT / local[1]).is_dir(), volume

    def test_every_named_volume_is_declared_and_used(self, services: Mapping[str, Any]) -> None:
        """State is kept in volumes that outlive the containers."""
        named = {what for service in services.values() for what in mounts(service).values() if what.isidentifier()}
        assert named == set(read_yaml("docker-compose.yml")["volumes"])

    def test_postgres_is_pinned_and_new_enough(self, services: Mapping[str, Any]) -> None:
        """PostgreSQL 18 with pgvector 0.8.4 or later, by a tag that does not move to another version."""
        tag = re.fullmatch(r"pgvector/pgvector:(\d+)\.(\d+)\.(\d+)-pg18-\w+", services["postgres"]["image"])
        assert tag
        assert tuple(map(int, tag.groups())) >= (0, 8, 4)


class TestAgreement:
    def test_both_ways_to_run_load_the_same_code_location(self, services: Mapping[str, Any], dockerfile: str) -> None:
        """One module and one location name, so that the state of sensors is the same in both."""
        (embedded,) = read_yaml("workspace.yaml")["load_from"]
        (deployed,) = read_yaml("deploy/workspace.yaml")["load_from"]
        module = embedded["python_module"]["module_name"]
        assert option(services["code"]["command"].partition(" grpc")[2], "-m") == module
        assert f'"-m", "{module}"' in dockerfile
        assert (CHECKOUT / module.split(".")[0]).is_dir()
        assert embedded["python_module"]["location_name"] == deployed["grpc_server"]["location_name"]

    def test_the_code_location_is_looked_for_where_it_listens(
        self, services: Mapping[str, Any], dockerfile: str
    ) -> None:
        """Host and port in the environment of web server and daemon are those of the service `code`."""
        (deployed,) = read_yaml("deploy/workspace.yaml")["load_from"]
        port = option(services["code"]["command"], "-p")
        for name in ("webserver", "daemon"):
            environment = services[name]["environment"]
            assert environment[deployed["grpc_server"]["host"]["env"]] == "code"
            assert environment[deployed["grpc_server"]["port"]["env"]] == port
            workspace = option(services[name]["command"], "-w")
            assert workspace == "deploy/workspace.yaml"
        assert services["code"]["healthcheck"]["test"][-1] == port
        assert f'"-p", "{port}"' in dockerfile

    def test_health_checks_ask_the_port_that_is_served(self, services: Mapping[str, Any]) -> None:
        """The web server is asked over HTTP at the port of its own command."""
        port = option(services["webserver"]["command"], "-p")
        assert f"http://127.0.0.1:{port}/server_info" in services["webserver"]["healthcheck"]["test"][-1]
        assert services["daemon"]["healthcheck"]["test"] == ["CMD", "dagster-daemon", "liveness-check"]
        port = option(services["metrics"]["command"], "--metrics-port")
        assert f"http://127.0.0.1:{port}/metrics" in services["metrics"]["healthcheck"]["test"][-1]

    def test_every_dagster_process_reaches_the_same_databases(self, services: Mapping[str, Any]) -> None:
        """The variable in dagster.yaml is set everywhere; the URLs name the server's user and databases."""
        variable = read_yaml("orchestration/dagster.yaml")["storage"]["custom"]["config"]["postgres_url"]["env"]
        server = services["postgres"]["environment"]
        created = "".join(
            path.read_text() for path in sorted((CHECKOUT / "deploy" / "postgres").iterdir()) if path.suffix == ".sql"
        )
        for name in ("code", "webserver", "daemon", "metrics", "serve", "worker"):
            url = re.fullmatch(r"postgresql://(\w+)@postgres:5432/(\w+)", services[name]["environment"][variable])
            assert url
            assert url[1] == server["POSTGRES_USER"]
            assert f"CREATE DATABASE {url[2]};" in created
            assert services[name]["environment"]["PGPASSWORD"] == server["POSTGRES_PASSWORD"]
        for name in ("code", "metrics", "serve", "worker"):
            assert services[name]["environment"]["SOURCEBOOK_DATABASE_URL"] == (
                f"postgresql://{server['POSTGRES_USER']}@postgres:5432/{server['POSTGRES_DB']}"
            )

    def test_the_image_holds_dagsters_configuration_where_dagster_looks(
        self, services: Mapping[str, Any], dockerfile: str
    ) -> None:
        """DAGSTER_HOME has dagster.yaml, and the logs of runs are shared with the web server that shows them."""
        home = re.search(r"DAGSTER_HOME=(\S+)", dockerfile)
        assert home
        assert f"COPY orchestration/dagster.yaml {home[1]}/dagster.yaml" in dockerfile
        for name in ("code", "webserver", "daemon"):
            assert mounts(services[name])[f"{home[1]}/storage"] == "logs"

    def test_every_file_that_the_image_copies_exists(self, dockerfile: str) -> None:
        """A renamed file is noticed here and not in the first build."""
        for line in re.findall(r"^COPY (?!--from)(.+)$", dockerfile, re.MULTILINE):
            for source in line.split()[:-1]:
                assert (CHECKOUT / source).exists(), source


class TestDagsterConfiguration:
    def test_dagster_accepts_it(self, tmp_path: Path) -> None:
        """The file is valid for the pinned Dagster; only its storage, a database, is left out here."""
        text = (CHECKOUT / "orchestration" / "dagster.yaml").read_text()
        (tmp_path / "dagster.yaml").write_text(re.sub(r"^storage:\n(?:  .*\n)+", "", text, flags=re.MULTILINE))
        with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
            assert not instance.telemetry_enabled
            assert instance.run_monitoring_enabled
            assert isinstance(instance.run_coordinator, dg.QueuedRunCoordinator)

    def test_a_collection_has_one_run_at_a_time(self) -> None:
        """The limit holds for the tag that Dagster itself puts on every run of a partition, and for our own."""
        limits = read_yaml("orchestration/dagster.yaml")["concurrency"]["runs"]["tag_concurrency_limits"]
        of_one = {each["key"]: each["limit"] for each in limits if each["value"] == {"applyLimitPerUniqueValue": True}}
        assert of_one == {"dagster/partition": 1, "sourcebook/collection": 1}


def test_every_dependency_is_pinned_to_one_version() -> None:
    """constraints.txt has one exact version a package, and no build that only one index has."""
    lines = [line for line in (CHECKOUT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*", line) for line in lines)
    names = [re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in lines]
    assert len(names) == len(set(names))
    assert {"dagster", "torch", "sentence-transformers", "psycopg", "pytest", "pip"} <= set(names)
    assert "torchvision" not in names


def test_every_pinned_package_takes_the_oldest_python_that_the_project_takes() -> None:
    """Debian 12 has 3.11.2: one package that asks for 3.11.5 refuses it the whole installation."""
    asked = {each.name: each.metadata["Requires-Python"] or "" for each in distributions()}
    assert len(asked) > 200
    assert not {name: python for name, python in asked.items() if not SpecifierSet(python).contains("3.11.0")}


def test_every_package_but_torch_is_installed_by_its_hash() -> None:
    """hashes.txt and hashes-dev.txt have the versions of constraints.txt, each once, with the SHA-256 of its files."""
    pinned = {
        line
        for line in (CHECKOUT / "constraints.txt").read_text().splitlines()
        if not line.startswith(("#", "torch==", "triton=="))
    }
    files = "".join((CHECKOUT / name).read_text() for name in ("hashes.txt", "hashes-dev.txt"))
    text = re.sub(r"^#.*\n", "", files, flags=re.MULTILINE).replace("\\\n", "")
    lines = [re.sub(r' ; python_version < "[0-9.]+"', "", line) for line in text.splitlines()]
    hashes = {line.split()[0]: line.split()[1:] for line in lines}

    def normal(requirement: str) -> str:
        name, _, version = requirement.partition("==")
        return f"{re.sub(r'[-_.]+', '-', name).lower()}=={version}"

    assert len(lines) == len(hashes)
    assert {normal(line) for line in hashes} == {normal(line) for line in pinned}
    assert all(found for found in hashes.values())
    assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each) for found in hashes.values() for each in found)


def test_the_image_installs_files_with_known_hashes_alone(dockerfile: str) -> None:
    """Every package comes from a wheel with a known hash; only torch and pip are asked of an index by version."""
    commands = re.findall(r"pip (?:install|wheel) .*", dockerfile.replace("\\\n", " "))
    (wheels,) = [command for command in commands if "--require-hashes" in command]
    (install,) = [command for command in commands if "--no-index" in command]
    by_version = [command for command in commands if command not in (wheels, install)]
    assert "--no-deps" in wheels
    assert wheels.endswith("-r hashes.txt -r hashes-dev.txt")
    assert install.endswith("-e '.[pipeline,launchers]'")
    assert option(wheels, "--wheel-dir") == option(install, "--find-links")
    assert [command.split()[-1] for command in by_version] == ["pip", "torch"]
    assert all("-c constraints.txt" in command for command in by_version)

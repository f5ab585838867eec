"""The compose files as Docker Compose itself reads and merges them; no container is started."""

import os
import shutil
import subprocess
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.checkout import CHECKOUT

GIVEN = {
    "POSTGRES_PASSWORD": "of tests",
    "RABBITMQ_PASSWORD": "oftests",
    "DOCKER_GROUP": "0",
    "SOURCEBOOK_DOCUMENTS": "/documents",
    "SOURCEBOOK_CONFIGURATION": "/configuration",
}
OVERLAYS = {"docker": "deploy/docker-launcher.yml", "celery": "deploy/celery.yml"}


def config(overlays: list[str], variables: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """Run `docker compose config` over docker-compose.yml and some overlays."""
    given = [part for name in ("docker-compose.yml", *overlays) for part in ("-f", str(CHECKOUT / name))]
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        ["docker", "compose", *given, "config"],
        env={**environment, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture(scope="module", autouse=True)
def docker_compose() -> None:
    """Skip where there is no Docker Compose of version 2; nothing else merges as it does."""
    if (
        shutil.which("docker") is None
        or subprocess.run(["docker", "compose", "version"], capture_output=True).returncode
    ):
        pytest.skip("Docker Compose 2 is not installed")


def merged(overlays: list[str]) -> dict[str, Any]:
    done = config(overlays, GIVEN)
    assert done.returncode == 0, done.stderr
    read: dict[str, Any] = YAML(typ="safe", pure=True).load(done.stdout)
    return read


@pytest.mark.parametrize("launcher", OVERLAYS)
def test_an_overlay_changes_the_instance_and_keeps_what_it_does_not_name(launcher: str) -> None:
    """Each Dagster service reads the launcher's instance file, and has the environment and commands from before."""
    plain, with_overlay = merged([])["services"], merged([OVERLAYS[launcher]])["services"]
    instance = str(CHECKOUT / "orchestration" / "instances" / f"{launcher}.yaml")
    for name in ("code", "webserver", "daemon"):
        mounted = {volume["target"]: volume["source"] for volume in with_overlay[name]["volumes"]}
        assert mounted["/var/lib/dagster/dagster.yaml"] == instance, name
        assert {volume["target"] for volume in plain[name]["volumes"]} <= set(mounted), name
        assert plain[name]["environment"].items() <= with_overlay[name]["environment"].items(), name
        assert with_overlay[name]["command"] == plain[name]["command"], name
    assert with_overlay["postgres"] == plain["postgres"]


@pytest.mark.parametrize(("overlay", "variable"), [(None, "POSTGRES_PASSWORD"), ("docker", "DOCKER_GROUP")])
def test_what_has_to_be_set_is_named(overlay: str | None, variable: str) -> None:
    """Nothing starts with an empty password or another default."""
    others = {name: value for name, value in GIVEN.items() if name != variable}
    done = config([OVERLAYS[overlay]] if overlay else [], others)
    assert done.returncode != 0
    assert f"set {variable} to" in done.stderr

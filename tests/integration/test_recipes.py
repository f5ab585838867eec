"""The recipes of sources, each over a fake of its service that is driven through changes and faults."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import CHECKOUT
from tests.integration.stages import Stages
from tests.packages import NotInstalledError, installed
from tests.recipes.drill import PACKAGES
from tests.recipes.services import SERVICES

CHANGES = 21
"""Changes of each service beside the first ones, a third as many looks, half of these with a fault."""


@pytest.fixture(scope="module")
def libraries() -> Path:
    """A folder with the clients of the services; skips where no index has them."""
    try:
        return installed(PACKAGES, "recipes")
    except NotInstalledError as error:
        pytest.skip(str(error))


def drilled(libraries: Path, changes: int, *names: str, seed: int) -> list[dict[str, Any]]:
    """Drill recipes in a process with their libraries; return the figures of each."""
    environment = {**os.environ, "PYTHONPATH": f"{CHECKOUT}{os.pathsep}{libraries}"}
    command = [sys.executable, "-m", "tests.recipes", str(changes), str(seed), *names]
    ran = subprocess.run(
        command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, timeout=500, check=False
    )
    assert ran.returncode == 0, ran.stdout[-4_000:] + ran.stderr[-4_000:]
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_no_recipe_loses_doubles_or_keeps_what_is_gone(libraries: Path, stages: Stages) -> None:
    """After every look the ledger has what the service has, and it is searchable; a revoked token is told, and removes
    nothing."""
    figures = drilled(libraries, CHANGES, seed=7)
    wrong = {each["recipe"]: each["examples"] for each in figures if each["lost"] or each["doubled"] or each["stale"]}
    assert wrong == {}
    assert [each["recipe"] for each in figures] == [service.recipe for service in SERVICES]
    assert all(each["failed"] for each in figures), "some faults end a look"
    with_token = {service.recipe for service in SERVICES if service.environment}
    assert {each["recipe"] for each in figures if each["refusal"]} == with_token
    assert not any("secret-token" in str(each["refusal"]) for each in figures)

    (mail,) = (each for each in figures if each["recipe"] == "mail")
    stages.run_all("mail")
    found = len(stages.rows("SELECT uri FROM document WHERE removed_at IS NULL"))
    assert found == 2 * len(mail["truth"]), "each message has an attached file"
    key, words = next(iter(mail["truth"].items()))
    record = f"record://mail/{key}"
    for word, uri in zip(words, (record, record, f"{record}/curve.txt"), strict=True):
        assert uri in {hit.uri for hit in stages.search(word, mode="keyword")}


def test_files_of_a_drive_go_to_their_readers(libraries: Path, stages: Stages) -> None:
    """Texts, PDF and exports of Google's documents are found by what is in them; a file that may not be downloaded, by
    its name."""
    (figures,) = drilled(libraries, 12, "drive", seed=7)
    stages.run_all("drive")
    assert stages.rows("SELECT uri FROM document WHERE removed_at IS NULL AND failure IS NOT NULL") == []
    for key, words in figures["truth"].items():
        for word in words:
            assert f"record://drive/{key}" in {hit.uri for hit in stages.search(word, mode="keyword")}
    assert {len({*words}) for words in figures["truth"].values()} == {1, 2}


def test_their_packages_go_with_the_pinned_ones(libraries: Path) -> None:
    """What the clients require and constraints.txt pins fits together."""
    environment = {**os.environ, "PYTHONPATH": str(libraries)}
    command = [sys.executable, "-m", "pip", "check", "--disable-pip-version-check"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    names = {line.partition("==")[0] for line in PACKAGES.read_text().splitlines() if "==" in line}
    assert [line for line in ran.stdout.splitlines() if line.partition(" ")[0].lower() in names] == []

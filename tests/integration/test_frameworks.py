"""The retrievers for LangChain, LlamaIndex and Haystack, in an environment of their own beside this one's packages."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sourcebook.admin.access_keys import create_key
from tests.checkout import CHECKOUT
from tests.frameworks.conftest import SERVER_VARIABLE
from tests.integration.http_server import serving
from tests.integration.stages import Stages
from tests.packages import NotInstalledError, installed

PACKAGES = CHECKOUT / "tests" / "frameworks" / "packages.txt"
LEAST = 78
"""Tests that run in the environment, at least."""
POWER = "# Power\n\nThe batteries of the tide gauge last fourteen months.\n"
SEAL = "# Seals\n\nThe seal of the housing is greased in spring. The batteries stay dry.\n"
WINTER = "# Winter\n\nIn winter the hut by the batteries is heated.\n"
SALARIES = "# Salaries\n\nThe engineer of the batteries earns a bonus.\n"
CONFIGURATION = """\
collections:
  handbook: {files: [{root: ./docs/handbook, tags: [manual]}]}
  personnel: {files: [{root: ./docs/personnel, tags: [secret]}]}
"""


@pytest.fixture(scope="module")
def frameworks() -> Path:
    """A folder with the packages, which one run after the other finds again; skips where no index has them."""
    try:
        return installed(PACKAGES, "frameworks")
    except NotInstalledError as error:
        pytest.skip(str(error))


def test_their_packages_go_with_the_pinned_ones(frameworks: Path) -> None:
    """What the frameworks require and constraints.txt pins fits together."""
    environment = {**os.environ, "PYTHONPATH": str(frameworks)}
    command = [sys.executable, "-m", "pip", "check", "--disable-pip-version-check"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    names = {line.partition("==")[0] for line in PACKAGES.read_text().splitlines() if "==" in line}
    complaints = [line for line in ran.stdout.splitlines() if line.partition(" ")[0].lower() in names]
    assert complaints == []


def test_in_their_environment(frameworks: Path, stages: Stages, exported_model: Path) -> None:
    """tests/frameworks in a process of its own, over one knowledge base and its server; they reach no other host."""
    stages.write("handbook/power.md", POWER)
    stages.write("handbook/seal.md", SEAL)
    stages.write("handbook/winter.md", WINTER)
    stages.write("personnel/salaries.md", SALARIES)
    stages.configure(CONFIGURATION)
    stages.run_all("personnel", "handbook")
    with stages.connection() as connection:
        _, key = create_key(connection, "frameworks", ("read",), actor="test")
    plugins = ("pytest_timeout", "pytest_asyncio.plugin", "pytest_socket", "no:cacheprovider")
    settings = (
        "addopts=",
        "asyncio_mode=auto",
        "asyncio_default_fixture_loop_scope=function",
        "filterwarnings=default",
    )
    options = [part for plugin in plugins for part in ("-p", plugin)]
    options += [part for setting in settings for part in ("-o", setting)]
    options += ["--import-mode=importlib", "--confcutdir=tests/frameworks"]
    options += ["--allow-hosts=127.0.0.1", "--allow-unix-socket"]
    with serving(stages.knowledge, requires_key=True) as client:
        environment = {
            **os.environ,
            "PYTHONPATH": str(frameworks),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "SOURCEBOOK_HOME": str(exported_model),
            SERVER_VARIABLE: f"http://127.0.0.1:{client.port}",
            "SOURCEBOOK_KEY": key,
            "HAYSTACK_TELEMETRY_ENABLED": "False",
        }
        command = [sys.executable, "-m", "pytest", "-q", *options, "tests/frameworks"]
        ran = subprocess.run(
            command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, timeout=500, check=False
        )
    assert ran.returncode == 0, ran.stdout[-8_000:] + ran.stderr[-2_000:]
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert passed is not None
    assert int(passed[1]) >= LEAST
    assert "skipped" not in ran.stdout

"""The wheel is whole: built, and installed away from the checkout, it ingests, searches, and serves the pipeline."""

import json
import signal
import subprocess
import sys
import sysconfig
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from benchmarks.harness.kills.processes import family
from sourcebook import KnowledgeBase
from tests.acceptance.processes import free_port
from tests.acceptance.test_up import servers_of
from tests.acceptance.workplace import Workplace
from tests.checkout import CHECKOUT
from tests.waiting import wait_until
from tests.web_server import WebServer

PACKAGES = ("assets", "orchestration", "resources", "sensors")
"""The code location: packages of the wheel's own folder, and of no import path."""
PAGE = "<html><title>Tides</title><h1 id=high>High water</h1><p>The mark is {colour}.</p></html>"
SECONDS_UNTIL_SEARCHABLE = 60
"""Seconds until `up` has taken in a file that was edited, on a machine that runs other tests too."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that `python -m build` makes of the checkout."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(CHECKOUT)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that has the wheel, and everything else from this environment.

    The `.pth` file that joins the checkout to this environment has no effect in the other one.
    """
    folder = tmp_path_factory.mktemp("elsewhere") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=120)
    interpreter = folder / "bin" / "python"
    paths = sysconfig.get_paths(vars={"base": str(folder), "platbase": str(folder)})
    (Path(paths["purelib"]) / "packages.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    install = ["-m", "pip", "--python", str(interpreter), "install", "--no-deps", "--no-index", str(wheel)]
    done = subprocess.run([sys.executable, *install], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return interpreter


@pytest.fixture
def site() -> Iterator[WebServer]:
    """A site of one page."""
    with WebServer() as server:
        server.page("/", PAGE.format(colour="blue"))
        yield server


@pytest.fixture
def elsewhere(workplace: Workplace, python: Path, exported_model: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """A workplace whose command is the wheel's."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    workplace.take_model(exported_model)
    return replace(workplace, command=str(python.with_name("sourcebook")))


def test_the_wheel_has_the_code_location_and_every_statement(wheel: Path) -> None:
    """Every module of the pipeline and every .sql file and page of the checkout is in it, but for the demo."""
    names = set(zipfile.ZipFile(wheel).namelist())
    pipeline = {
        f"sourcebook/code_location/{path.relative_to(CHECKOUT)}"
        for package in PACKAGES
        for path in (CHECKOUT / package).rglob("*.py")
        if not path.name.startswith("demo")
    }
    statements = {str(path.relative_to(CHECKOUT)) for path in (CHECKOUT / "sourcebook").rglob("*.sql")}
    page = CHECKOUT / "sourcebook" / "server" / "page"
    files = {str(path.relative_to(CHECKOUT)) for name in ("static", "templates") for path in (page / name).iterdir()}
    settings = {"orchestration/dagster.yaml", "deploy/workspace.yaml"}
    assert pipeline | statements | files | {f"sourcebook/code_location/{name}" for name in settings} <= names
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"sourcebook"}


def test_the_environment_has_the_library_of_the_wheel_and_no_new_top_level_names(
    python: Path, elsewhere: Workplace
) -> None:
    code = (
        "import json, sourcebook; from importlib.util import find_spec;"
        f"print(json.dumps([sourcebook.__file__, [n for n in {PACKAGES!r} if find_spec(n)]]))"
    )
    told = subprocess.check_output([str(python), "-c", code], cwd=elsewhere.folder, env=elsewhere.environment)
    file, found = json.loads(told)
    assert Path(file).is_relative_to(python.parents[1])
    assert found == []


@pytest.mark.timeout(600)
def test_up_of_the_wheel_takes_changes_in_by_itself_and_leaves_no_process_behind(
    elsewhere: Workplace, site: WebServer
) -> None:
    """`ingest`, `search` and `up` need nothing of the checkout; a run that a sensor asked for finds the code too.

    The changes are a file that was edited, and a page of a site whose refresh interval has passed.
    """
    elsewhere.configure(handbook="docs")
    with elsewhere.configuration.open("a") as file:
        file.write(
            f"  web:\n    sites:\n      - {{url: {site.url}/, refresh: 15s, politeness: {{requests_per_second: 20}}}}\n"
        )
    elsewhere.write("docs/flags.md", "# Flags\n\nThe flag is green.\n")
    done = elsewhere.ingest()
    assert (done["handbook"]["documents"]["added"], done["web"]["documents"]["added"]) == (1, 1)
    assert elsewhere.json("search", "green", "--mode", "keyword")["results"]
    port = free_port()
    with elsewhere.start("up", "--port", str(port), "--json") as process:
        try:
            assert process.stdout is not None
            address = json.loads(process.stdout.readline())["address"]
            assert address == f"http://127.0.0.1:{port}"
            assert _assets(address) == 8 + 4, (
                "the stages, and what they read: configuration, folders, records and sites"
            )
            with KnowledgeBase.connect(home=elsewhere.home) as knowledge:

                def found(word: str) -> bool:
                    return bool(knowledge.search(word, mode="keyword"))

                assert found("blue")
                elsewhere.write("docs/flags.md", "# Flags\n\nThe flag is white.\n")
                site.page("/", PAGE.format(colour="red"))
                changed = time.monotonic()
                wait_until(lambda: found("white"), seconds=180, what="the change is searchable")
                seconds = time.monotonic() - changed
                print(f"\nsearchable {seconds:.0f} s after the change")
                assert seconds <= SECONDS_UNTIL_SEARCHABLE
                assert not found("green")
                wait_until(lambda: found("red"), seconds=180, what="the changed page is searchable")
                assert not found("blue")
            started = family(process.pid)
            assert len(started) > 3
        finally:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
    assert process.returncode == 0, out + err
    _, alive = psutil.wait_procs(started, timeout=60)
    assert not alive
    assert not servers_of(elsewhere.home / "postgres"), "the embedded server stopped too"
    assert "Traceback" not in err


def _assets(address: str) -> int:
    """Return how many assets the web page shows."""
    query = json.dumps({"query": "{ assetNodes { id } }"}).encode()
    request = urllib.request.Request(  # noqa: S310 - loopback
        f"{address}/graphql", query, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - loopback
        return len(json.load(answer)["data"]["assetNodes"])

"""The oldest and the newest Dagster that `pyproject.toml` allows: the definitions load, and an ingest runs.

Each has a virtual environment of its own over the packages of this one; its packages come from the package index.
"""

import re
import subprocess
import sys
import sysconfig
import time
import tomllib
from pathlib import Path

from benchmarks.harness.bench import Bench
from benchmarks.harness.library import Library
from benchmarks.harness.report import Row, say

_CHECKOUT = Path(__file__).resolve().parents[2]
_LIBRARIES = 16
"""dagster 1.MINOR.PATCH belongs together with dagster-postgres 0.(MINOR + 16).PATCH."""
_FILES = 20
_EMBEDDED = """
import dagster as dg
from sourcebook.dagster import Collection, sourcebook_definitions
@dg.asset(deps=[dg.AssetKey(["sourcebook", "search_index"])])
def documents(): ...
theirs = dg.Definitions(assets=[documents], resources={"knowledge": "theirs"}, executor=dg.multiprocess_executor)
given = sourcebook_definitions({"collections": {"handbook": {"files": [{"root": "."}]}}})
dg.Definitions.validate_loadable(dg.Definitions.merge(theirs, given))
print(dg.__version__)
"""
_COMMAND = "from sourcebook.command import main; main()"


def run(bench: Bench) -> list[Row]:
    """Load the definitions and ingest a small library at both ends of the range."""
    oldest = _oldest()
    folder = bench.folder / "dagster"
    return [
        *_tried(bench, folder / "oldest", oldest),
        *_tried(bench, folder / "newest", _newest(folder / "newest", oldest)),
    ]


def _oldest() -> str:
    """Return the first version of the range, such as `1.13.4`."""
    project = tomllib.loads((_CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (found,) = (
        match
        for each in project["optional-dependencies"]["pipeline"]
        if (match := re.fullmatch(r"dagster>=([\d.]+),<([\d.]+)", each))
    )
    return found[1]


def _newest(folder: Path, oldest: str) -> str:
    """Return the newest version for which there is a dagster-postgres: that of its family which comes last."""
    _, minor, _ = oldest.split(".")
    library = int(minor) + _LIBRARIES
    _install(folder, f"dagster-postgres>=0.{library},<0.{library + 1}")
    code = "from importlib.metadata import version; print(version('dagster-postgres'))"
    found = subprocess.check_output([_python(folder), "-c", code], text=True).strip()
    return f"1.{minor}.{found.rpartition('.')[2]}"


def _tried(bench: Bench, folder: Path, version: str) -> list[Row]:
    _, minor, patch = version.split(".")
    core = ("dagster", "dagster-shared", "dagster-pipes", "dagster-graphql", "dagster-webserver")
    _install(folder, *(f"{name}=={version}" for name in core), f"dagster-postgres==0.{int(minor) + _LIBRARIES}.{patch}")
    library = bench.filled(f"dagster-{version}", files=_FILES)
    environment = {**library.environment, "PYTHONPATH": str(_CHECKOUT)}
    started = time.perf_counter()
    done = subprocess.run(
        [_python(folder), "-W", "ignore", "-c", _EMBEDDED], cwd=_CHECKOUT, env=environment, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == version, done.stderr
    seconds = time.perf_counter() - started
    searchable = _ingested(library, _python(folder), environment)
    say(f"  dagster {version}: definitions merged in {seconds:.1f} s, {searchable} documents searchable")
    return [Row(f"dagster {version}: documents searchable after an ingest of {_FILES}", searchable, "", _FILES,
                at_least=True)]  # fmt: skip


def _ingested(library: Library, python: str, environment: dict[str, str]) -> int:
    command = [python, "-c", _COMMAND, "--config", str(library.configuration_path), "ingest", "--json"]
    subprocess.run(command, cwd=_CHECKOUT, env=environment, capture_output=True, check=True)
    with library.database() as database, database.connection() as connection:
        (found,) = connection.execute(
            "SELECT count(DISTINCT chunk.document_id) FROM chunk JOIN search_entry ON chunk_id = chunk.id"
        ).fetchone() or (0,)
    return int(found)


def _install(folder: Path, *packages: str) -> None:
    """Install packages without their dependencies into an environment, which is made where it is missing."""
    if not folder.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        (packages_of,) = folder.glob("lib/python*/site-packages")
        (packages_of / "of_this_one.pth").write_text(sysconfig.get_paths()["purelib"], encoding="utf-8")
    subprocess.run([_python(folder), "-m", "pip", "install", "--quiet", "--no-deps", *packages], check=True)


def _python(folder: Path) -> str:
    return str(folder / "bin" / "python")

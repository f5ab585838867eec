"""What every command that only reads answers with `--json` about the example library, as `make demo` takes it in.

Times, durations, ids, sizes and folders are replaced, scores are rounded: two runs over one tree say the same.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from orchestration.demo_site import CONFIGURATION, EXAMPLES, serve, site_url
from tests.surface.scratch import public_folder

_PROGRAM: Final = (sys.executable, "-c", "from sourcebook.cli import main; main()")
_QUESTION: Final = "How many hours did the station last on batteries when the island's electricity failed?"
_HANDBOOK: Final = "station-handbook.md"
_READ: Final = {
    "search": ("search", _QUESTION),
    "search-explained": ("search", "storm board", "--explain", "--facets", "--neighbours", "1", "--limit", "3"),
    "search-keyword": ("search", "BH-0403", "--mode", "keyword", "--group-by", "document"),
    "search-vector": ("search", "tide well", "--mode", "vector", "--snippets", "meaning", "--expand", "references"),
    "search-filtered": ("search", "levelling", "--filter", "kind=file", "--min-relevance", "0.1", "--strategy", "auto"),
    "search-nothing": ("search", "xylophone zeppelin quaternion"),
    "search-all": ("search", "xylophone zeppelin quaternion", "--all"),
    "context": ("context", _QUESTION, "--max-tokens", "600"),
    "similar": ("similar", _HANDBOOK),
    "related": ("related", _HANDBOOK),
    "documents": ("documents",),
    "show": ("show", _HANDBOOK),
    "status": ("status",),
    "plan": ("plan",),
    "generations": ("generations",),
    "queries": ("queries",),
    "usage": ("usage",),
    "llm-log": ("llm-log",),
    "requests": ("requests",),
    "uploads": ("uploads",),
    "evaluate": ("evaluate", str(EXAMPLES / "questions.jsonl")),
    "key": ("key", "list"),
    "doctor": ("doctor",),
}
"""Commands by the name of a file."""
_TIMES = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?")
_CHANGING = re.compile(
    r"(?:^|_)(?:id|ids|ms|seconds|at|bytes|cost|disk|memory|took|pid|port|generation|document|passage)$"
)
"""Names of numbers that are others in each run."""
_DIGITS: Final = 3


def files() -> dict[str, str]:
    """Return what each command answers."""
    with public_folder() as home, serve(EXAMPLES / "site", urlsplit(site_url()).port or 80):
        ran = _run(home, "ingest")
        assert ran.returncode == 0, ran.stderr
        found = {}
        for name, arguments in _READ.items():
            ran = _run(home, *arguments, "--json")
            said = _plain(json.loads(ran.stdout), home) if ran.stdout.strip() else ran.stderr.strip()
            text = json.dumps(said, indent=1, ensure_ascii=False)
            found[f"{name}.json"] = f"{text}\n" if ran.returncode == 0 else f"{text}\nexit code {ran.returncode}\n"
        return found


def _run(home: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "SOURCEBOOK_HOME": str(home), "COLUMNS": "100"}
    command = [*_PROGRAM, "--config", str(CONFIGURATION), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def _plain(value: Any, home: Path, name: str = "") -> Any:
    """Return a value without what differs from run to run and from machine to machine."""
    if isinstance(value, dict):
        return {key: _plain(held, home, key) for key, held in value.items()}
    if isinstance(value, list):
        return [_plain(held, home, name) for held in value]
    if isinstance(value, str):
        text = value.replace(str(home), "HOME").replace(str(EXAMPLES.parent), "CHECKOUT")
        return _TIMES.sub("TIME", text)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return 0 if _CHANGING.search(name) else round(value, _DIGITS)
    return value

"""What every command that only reads answers with `--json` about the example library, as `make demo` takes it in.

Times, durations, ids, sizes and folders are replaced, scores are rounded: two runs over one tree say the same.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from orchestration.demo_site import serve
from sourcebook import KnowledgeBase
from tests.checkout import CHECKOUT, EXAMPLES
from tests.surface.scratch import public_folder

_PROGRAM: Final = (sys.executable, "-c", "from sourcebook.command import main; main()")
_QUESTION: Final = "How many hours did the station last on batteries when the island's electricity failed?"
_PORT: Final = "19110"
"""Port of the web site in the configuration of the examples."""
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
    "permissions": ("permissions",),
    "permission": ("permissions", _HANDBOOK, "--as", "user:anna"),
    "llm-log": ("llm-log",),
    "requests": ("requests",),
    "uploads": ("uploads",),
    "judge": ("judge", _QUESTION, "annual-review-2024.pdf"),
    "evaluate": ("evaluate", "-c", "tide-station"),
    "key": ("key", "list"),
    "doctor": ("doctor",),
}
"""Commands by the name of a file; `judge` writes the question that `evaluate` asks."""
_TIMES = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?")
_CHANGING = re.compile(
    r"(?:^|_)(?:id|ids|ms|seconds|at|bytes|cost|disk|memory|took|pid|port|generation|document|passage)$"
)
"""Names of numbers that are others in each run."""
_DIGITS: Final = 3


def files() -> dict[str, str]:
    """Return what each command answers."""
    with public_folder() as folder, serve(folder / "site", 0) as port:
        for part in ("library", "site"):
            shutil.copytree(EXAMPLES / part, folder / part)
        for name in ("sourcebook.yaml", "site/robots.txt", "site/sitemap.xml"):
            text = (EXAMPLES / name).read_text(encoding="utf-8")
            (folder / name).write_text(text.replace(_PORT, str(port)), encoding="utf-8")
        ran = _run(folder, "ingest")
        assert ran.returncode == 0, ran.stderr
        with KnowledgeBase.connect(home=folder / ".sourcebook"):  # so that the commands find a database that runs
            return {f"{name}.json": _answer(folder, port, arguments) for name, arguments in _READ.items()}


def _answer(folder: Path, port: int, arguments: tuple[str, ...]) -> str:
    ran = _run(folder, *arguments, "--json")
    said = ran.stdout if ran.stdout.strip() else json.dumps(ran.stderr.strip())
    said = (
        said.replace(str(folder), "FOLDER")
        .replace(sys.prefix, "ENVIRONMENT")
        .replace(f"127.0.0.1:{port}", f"127.0.0.1:{_PORT}")
    )
    text = json.dumps(_plain(json.loads(said)), indent=1, ensure_ascii=False)
    return f"{text}\n" if ran.returncode == 0 else f"{text}\nexit code {ran.returncode}\n"


def _run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [*_PROGRAM, *arguments]
    environment = {**os.environ, "COLUMNS": "100", "PYTHONPATH": str(CHECKOUT)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def _plain(value: Any, name: str = "") -> Any:
    """Return a value without what differs from run to run."""
    if isinstance(value, dict):
        return {key: _plain(held, key) for key, held in value.items()}
    if isinstance(value, list):
        return [_plain(held, name) for held in value]
    if isinstance(value, str):
        return _TIMES.sub("TIME", value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return 0 if _CHANGING.search(name) else round(value, _DIGITS)
    return value

"""crawl4ai, and scrapy with trafilatura, over the pages of a local site, each in a process of its own."""

import hashlib
import json
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness.library import PROJECT, child_environment
from benchmarks.harness.measure import run

_PEERS = PROJECT / "benchmarks" / "peers"
_REQUIREMENTS = _PEERS / "scrapy_requirements.txt"


class NoPeerError(Exception):
    """A peer cannot be installed; the message says why."""


@dataclass(frozen=True)
class PeerCrawl:
    """A peer's crawl of a site."""

    seconds: float
    """Seconds from its start to its end, the import of the peer's libraries included, Python's start excluded."""
    pages: int
    """Pages whose text it wrote."""
    peak: int
    """Largest resident memory of its process, in bytes."""
    processor: float
    """Seconds of processor time of all its processes, Python's start included."""

    @property
    def pages_a_second(self) -> float:
        return self.pages / self.seconds


def crawl4ai_crawl(urls: Sequence[str], folder: Path, concurrency: int, *, main_content: bool) -> PeerCrawl:
    """Fetch these URLs with crawl4ai, which need not discover them; its files and its pages go to a folder.

    Its own deep crawl waits for the slowest page of each level, and a second or more between two requests.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "urls").write_text("\n".join(urls), encoding="utf-8")
    command = [sys.executable, "-m", "benchmarks.peers.crawl4ai_pages", str(folder / "urls"), str(folder / "pages")]
    command += [str(concurrency), "main" if main_content else "whole"]
    return _crawl(command, CRAWL4_AI_BASE_DIRECTORY=str(folder), PYTHONPATH=str(PROJECT))


def scrapy_crawl(python: Path, start: str, folder: Path, concurrency: int) -> PeerCrawl:
    """Follow the links of a site with scrapy, run by the Python of `scrapy_python`."""
    folder.mkdir(parents=True, exist_ok=True)
    return _crawl([str(python), "-P", str(_PEERS / "scrapy_pages.py"), start, str(folder / "pages"), str(concurrency)])


def scrapy_python(folder: Path) -> Path:
    """Return the Python of a virtual environment with scrapy and trafilatura, made where it is not there.

    Raises:
        NoPeerError: it cannot be made, such as without a network.
    """
    wanted = hashlib.sha256(_REQUIREMENTS.read_bytes()).hexdigest()
    python, made = folder / "bin" / "python", folder / "requirements.sha256"
    if made.is_file() and made.read_text(encoding="utf-8") == wanted:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    try:
        venv.create(folder, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoPeerError(f"there is no virtual environment for scrapy: {error}") from error
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(_REQUIREMENTS)]
    done = subprocess.run(install, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise NoPeerError(f"pip installs no scrapy: {' '.join(done.stderr.split())[-200:]}")
    made.write_text(wanted, encoding="utf-8")
    return python


def _crawl(command: Sequence[str], **environment: str) -> PeerCrawl:
    measured = run(command, {**child_environment(), **environment})
    told = json.loads(measured.output.splitlines()[-1])
    return PeerCrawl(told["seconds"], told["pages"], measured.peak_process, measured.processor)

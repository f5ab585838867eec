"""The Chromium processes of a test."""

import os

import psutil


def chromium_processes(parent: int | None = None) -> list[psutil.Process]:
    """Return the Chromium processes below a process, this one by default; zombies are none."""
    found = []
    for process in psutil.Process(parent).children(recursive=True):
        try:
            if process.name().startswith("chrom") and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


def browsers() -> list[psutil.Process]:
    """Return the main process of each Chromium below this process: each leads a group of its own."""
    return [each for each in chromium_processes() if _group(each) == each.pid]


def renderers() -> list[psutil.Process]:
    """Return the processes that show pages."""
    return [each for each in chromium_processes() if "--type=renderer" in _command(each)]


def _group(process: psutil.Process) -> int:
    try:
        return os.getpgid(process.pid)
    except ProcessLookupError:
        return 0


def _command(process: psutil.Process) -> str:
    """Return a process's command line: Chromium writes it as one word for some of its processes."""
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return "--type=gone"

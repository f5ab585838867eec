"""How many threads recognition may use in this process."""

from sourcebook.processes.cores import usable_cores

_processes = 1


def share_cores(processes: int) -> None:
    """Say among how many processes the cores are shared, before the first recognition.

    Threads of recognition wait for each other by spinning, which starves those of another process.
    """
    global _processes
    _processes = processes


def recognition_threads() -> int:
    """Return this process's share of the cores, at least 1."""
    return max(1, usable_cores() // _processes)

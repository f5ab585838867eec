"""Number of threads for OCR in this process."""

from sourcebook.processes.cores import usable_threads

_processes = 1


def share_cores(processes: int) -> None:
    """Set the number of processes that share the cores, before the first OCR.

    OCR threads wait for each other by spinning, which starves the threads of other processes.
    """
    global _processes
    _processes = processes


def recognition_threads() -> int:
    """Return this process's share of the threads, at least 1."""
    return max(1, usable_threads() // _processes)

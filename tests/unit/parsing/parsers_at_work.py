"""Processes of a pool of parsers, for tests that watch or end them."""

import psutil

from sourcebook.config.parsing import ParsingSettings
from tests.waiting import wait_until

SETTINGS = ParsingSettings()
SLOW = b"1,2,3,4,5,6,7,8\n" * 1_500_000
"""A table that takes several seconds, and more than a gigabyte."""


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children()}


def wait_for_child(before: set[int]) -> int:
    def parsing() -> list[int]:
        # The other child that there may be is multiprocessing's own, which parses nothing.
        candidates = [psutil.Process(pid) for pid in children() - before]
        return [each.pid for each in candidates if "loky" in " ".join(each.cmdline()) and each.cpu_times().user > 1]

    return wait_until(parsing, what="a process parses", seconds=60)[0]

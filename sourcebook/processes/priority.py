"""Work that nobody waits for goes behind what a person waits for."""

import os
from typing import Final

_NICENESS: Final = 10
"""Of Linux's steps: where cores are scarce, a process of usual priority gets nine times the share of this one."""


def give_way() -> None:
    """Lower the priority of this process, where the system knows such; its threads to come have it too."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)

"""Memory that all parsers share, by the settings and by the machine."""

from typing import Final

from sourcebook.config.parsing import ParsingSettings
from sourcebook.processes.machine_memory import usable_memory

_DATA: Final = 0.9
"""Share of a parser's memory that its data may take; the rest is for its code, which its limit does not count.

Two parsers and their trackers took 90 to 120 MB beside their data, which is less than a tenth of 2 GB.
"""


def parser_memory(settings: ParsingSettings) -> int:
    """Return the most memory of all parsers together in bytes.

    Where no setting says how much, it is at most half of the machine's memory, but enough for one parser that reads
    pictures of pages.
    """
    machine = usable_memory()
    if "memory" in settings.model_fields_set or not machine:
        return settings.memory_limit
    return min(settings.memory_limit, max(machine // 2, settings.memory_of_models))


def data_limit(memory: int) -> int:
    """Return the bytes that the data of a parser may take where it has `memory` bytes in all."""
    return int(memory * _DATA)

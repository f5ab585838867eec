"""The memory that parsers share."""

from pathlib import Path

from sourcebook.processes.machine_memory import usable_memory


def test_a_container_has_less_than_its_machine(tmp_path: Path) -> None:
    """Its limit counts where there is one."""
    limit = tmp_path / "memory.max"
    machine = usable_memory(limit)
    assert machine > 100_000_000
    limit.write_text("100000000\n")
    assert usable_memory(limit) == 100_000_000
    limit.write_text("max\n")
    assert usable_memory(limit) == machine

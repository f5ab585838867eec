"""Numbers of cores and threads."""

import pytest

from sourcebook.processes import cores
from sourcebook.processes.cores import THREADS_VARIABLE, divide_cores, usable_cores, usable_threads


@pytest.mark.parametrize(("setting", "threads"), [("1", 1), ("3", 3), ("2,4", 2), ("0", 1)])
def test_the_variable_of_openmp_limits_the_threads_of_models(
    monkeypatch: pytest.MonkeyPatch, setting: str, threads: int
) -> None:
    """Processes side by side, each with a thread a core, spend half of their time waiting for their own threads."""
    monkeypatch.setenv(THREADS_VARIABLE, setting)
    assert usable_threads() == threads


@pytest.mark.parametrize("setting", ["", "many"])
def test_without_a_number_there_is_a_thread_for_each_core(monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    monkeypatch.setenv(THREADS_VARIABLE, setting)
    assert usable_threads() == usable_cores()
    monkeypatch.delenv(THREADS_VARIABLE)
    assert usable_threads() == usable_cores()


def test_processes_that_do_the_same_work_divide_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has at least one."""
    monkeypatch.setattr(cores, "_shared_by", 1)
    whole = usable_cores()
    divide_cores(2)
    assert usable_cores() == max(whole // 2, 1)
    divide_cores(1_000)
    assert usable_cores() == 1

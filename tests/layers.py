"""Run the layers of tests, the quick ones first, and say what each one took.

`python -m tests.layers [pytest's arguments]` is what `make test` runs. Within a layer, tests run side by side in
several processes. A test with the mark `alone` measures time: such tests run at the end, one after the other. Where few
tests fail, they run once more with nothing beside them: those that pass then are *unsteady*, and are named at the end.
A layer with other failures is the last one that runs. The reasons of failed tests are printed at the end, in short.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree as ET

import psutil

from sourcebook.processes.cores import THREADS_VARIABLE, usable_cores
from tests import durations, failures, processor_seconds
from tests.checkout import CHECKOUT
from tests.exported import FOLDER_VARIABLE
from tests.memory_folder import memory_folder
from tests.opened_in_turn import PLUGIN

CORES = int(os.environ.get("TEST_WORKERS", min(usable_cores(), 4)))
"""Cores that the tests may use; each process has a model and parsers of its own."""
MEMORY_OF_A_PROCESS = 2_000_000_000
"""Bytes for a process that runs tests, and for what it starts: a model, parsers, a browser, a database, a daemon."""
ROOM = max(CORES, psutil.virtual_memory().available // MEMORY_OF_A_PROCESS)
"""Processes for which the memory suffices."""
FOR_UNIT_TESTS = int(os.environ.get("TEST_UNIT_PROCESSES", min(CORES + CORES // 2, ROOM)))
"""Processes that run unit tests side by side: each waits a third of its time for children that it started."""
FOR_THE_OTHERS = int(os.environ.get("TEST_PROCESSES", min(CORES * 3, ROOM)))
"""Processes that run the other tests side by side: they wait for databases, daemons, sensors and browsers."""
THE_OTHERS = "the others"
"""Name of the layer of integration, acceptance and browser: each process makes its database, model and parsers once."""
ALONE = "alone"
"""Name of the layer of tests that run one after the other, and of their mark."""
BYTECODE_VARIABLE = "PYTHONDONTWRITEBYTECODE"
"""Environment variable with which each process would compile all tests again."""
STEADY = "--hypothesis-profile=ci"
"""Option by which each run tries the same examples, and none has to be made or tested within a time by the clock."""
NICENESS = int(os.environ.get("TEST_NICENESS", "0"))
"""Niceness of tests side by side: parsers and models have up to 19, and with 17 wait for no tests beside them."""
FAILURES = 1
"""pytest's exit code where tests failed."""
NO_TESTS = 5
"""pytest's exit code where the arguments select no test of a layer."""
MOST_UNSTEADY = 3
"""Failed tests of a layer that run once more; more of them have a common cause."""


@dataclass(frozen=True)
class Result:
    """The outcome of one layer; times are in seconds."""

    layer: str
    code: int
    passed: int
    failed: int
    skipped: int
    wall: float
    processor: float
    idle: float
    """Cores that nothing used, on average."""
    memory: int
    """Bytes of memory that were available, at the least."""
    unsteady: tuple[str, ...] = ()
    """Tests that failed beside others and passed alone."""
    reasons: dict[str, str] = field(default_factory=dict)
    """The first thing that went wrong in each failed test, also in an unsteady one."""
    heaviest: list[tuple[float, str]] = field(default_factory=list)
    """Tests that took most processor seconds, with these."""


def side_by_side(processes: int, *, all_tests: bool) -> list[str]:
    """Return pytest's options for tests side by side: a file's tests in one process, files in their order.

    Args:
        processes: their number.
        all_tests: whether a file is imported by the one process that runs it; to find some tests by their names, each
            process imports all.
    """
    in_turn = ["-p", PLUGIN, "-o", "console_output_style=classic"] if all_tests else []
    return ["-n", str(processes), "--dist", "loadfile", "--no-loadscope-reorder", "-m", "not alone", *in_turn]


def main(arguments: list[str]) -> int:
    """Run all layers until one fails; return the exit code."""
    alone = sorted(
        str(path) for path in (CHECKOUT / "tests").rglob("test_*.py") if "mark.alone" in path.read_text("utf-8")
    )
    others = ["tests/integration", "tests/acceptance", "tests/browser"]
    layers = {
        "unit": ["tests/unit", *side_by_side(FOR_UNIT_TESTS, all_tests=not arguments)],
        THE_OTHERS: [*others, *side_by_side(FOR_THE_OTHERS, all_tests=not arguments)],
        ALONE: [*alone, "-m", "alone"],
    }
    results: list[Result] = []
    memory = memory_folder()
    with tempfile.TemporaryDirectory(prefix="sourcebook-tests-", dir=memory) as shared:
        environment = {**os.environ, FOLDER_VARIABLE: shared, **({"TMPDIR": memory} if memory else {})}
        environment.pop(BYTECODE_VARIABLE, None)
        for layer, options in layers.items():
            print(f"\n== tests: {layer}", flush=True)
            # Models of processes side by side that had a thread a core would wait for their own threads.
            threads = {} if layer == ALONE else {THREADS_VARIABLE: os.environ.get(THREADS_VARIABLE, "1")}
            results.append(_run(layer, [*options, *arguments], {**environment, **threads}))
            if results[-1].code:
                break
    print("\nmost processor seconds, a test's own and those of children that ended in it:")
    for each in results:
        for seconds, name in each.heaviest:
            print(f"{seconds:7.1f} {name}")
    print("\nlayer                     tests    seconds  processor seconds  idle cores  least memory")
    for each in results:
        tests = each.passed + each.failed + each.skipped
        print(
            f"{each.layer:24} {tests:6,} {each.wall:10.1f} {each.processor:18.1f}"
            f" {each.idle:11.2f} {each.memory / 1e9:10.1f} GB"
        )
    for layer in list(layers)[len(results) :]:
        print(f"{layer:24} not run, as {results[-1].layer} failed")
    for name in (name for each in results for name in each.unsteady):
        print(f"unsteady: failed beside other tests, and passed alone: {name}")
    for line in failures.shortened({name: reason for each in results for name, reason in each.reasons.items()}):
        print(line)
    print(_closing_line(results), flush=True)
    return results[-1].code or (NO_TESTS if not any(each.passed + each.skipped for each in results) else 0)


def _run(layer: str, arguments: list[str], environment: dict[str, str]) -> Result:
    """Run a layer, and once more the few of its tests that fail, with nothing beside them."""
    with tempfile.TemporaryDirectory(prefix="sourcebook-tests-") as folder:
        cache = Path(folder)
        first = _pytest(layer, [*arguments, "-o", f"cache_dir={cache}"], environment)
        failed = tuple(json.loads((cache / "v/cache/lastfailed").read_text())) if first.code == FAILURES else ()
        if not 0 < len(failed) <= MOST_UNSTEADY:
            return first
        print(f"\n== tests: {layer}, the failed ones once more", flush=True)
        again = _pytest(layer, [*failed, "-o", f"cache_dir={cache}"], environment)
    both = replace(first, wall=first.wall + again.wall, processor=first.processor + again.processor)
    if again.code:
        return both
    return replace(both, code=0, passed=first.passed + first.failed, failed=0, unsteady=failed)


def _pytest(layer: str, arguments: list[str], environment: dict[str, str]) -> Result:
    """Run pytest in a process of its own, which prints as it would by itself."""
    with tempfile.TemporaryDirectory(prefix="sourcebook-tests-") as folder:
        report = Path(folder) / "report.xml"
        before, begun, idle = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic(), _idle_seconds()
        plugin = ["-p", processor_seconds.PLUGIN]
        command = [sys.executable, "-m", "pytest", f"--junitxml={report}", STEADY, *plugin, *arguments]
        nice = None if layer == ALONE else _lower_priority
        with subprocess.Popen(command, cwd=CHECKOUT, env=environment, preexec_fn=nice) as process:
            memory = _least_memory_until(process)
        code = process.returncode
        after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - begun
        if report.exists() and durations.are_wanted():
            durations.record(report)
        reasons = failures.reasons(report) if report.exists() else {}
        heaviest = processor_seconds.most(report) if report.exists() else []
        suites = list(ET.parse(report).iter("testsuite")) if report.exists() else []  # noqa: S314 - pytest's own
    count = {
        name: sum(int(suite.get(name, 0)) for suite in suites) for name in ("tests", "failures", "errors", "skipped")
    }
    failed = count["failures"] + count["errors"]
    return Result(
        layer=layer,
        code=0 if code == NO_TESTS else code,
        passed=count["tests"] - failed - count["skipped"],
        failed=failed,
        skipped=count["skipped"],
        wall=wall,
        processor=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        idle=(_idle_seconds() - idle) / wall,
        memory=memory,
        reasons=reasons,
        heaviest=heaviest,
    )


def _idle_seconds() -> float:
    """Return the seconds in which a core of this machine had nothing to do, since it started."""
    times = psutil.cpu_times()
    return float(times.idle) + float(getattr(times, "iowait", 0.0))


def _least_memory_until(process: "subprocess.Popen[bytes]") -> int:
    """Wait for the end of a process, and return the least bytes of memory that were available meanwhile."""
    least = psutil.virtual_memory().available
    while True:
        try:
            process.wait(timeout=1)  # the pause between two looks at the memory
        except subprocess.TimeoutExpired:
            least = min(least, psutil.virtual_memory().available)
        else:
            return least


def _lower_priority() -> None:
    """Give this process the niceness that is asked for."""
    os.nice(max(NICENESS - os.nice(0), 0))


def _closing_line(results: list[Result]) -> str:
    """Return the line that pytest would close with, had it run all layers at once."""
    sums = {name: sum(getattr(each, name) for each in results) for name in ("failed", "passed", "skipped")}
    seconds = sum(each.wall for each in results)
    counts = ", ".join(f"{number} {name}" for name, number in sums.items() if number) or "no tests ran"
    return f" {counts} in {seconds:.2f}s ({timedelta(seconds=round(seconds))}) ".center(80, "=")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

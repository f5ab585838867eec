"""Record runs in a process of its own: Dagster is imported there while this process does the work.

Importing Dagster and opening its storage takes longer than bringing a few files up to date. `RunRecorder` starts the
process, which imports Dagster and waits. `begin` names the collection, and the process opens the storage. `finish`
hands over the reports of the stages, and the process executes the job, whose assets only report. A small change costs
the longer of both, and not their sum.
"""

import gc
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from sourcebook.database.location import DATABASE_VARIABLE
from sourcebook.errors import SourcebookError
from sourcebook.installation import code_location
from sourcebook.model.report import StageReport
from sourcebook.processes.parent_death import end_with_parent

if TYPE_CHECKING:
    from orchestration.run import RecordedRuns

_PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from orchestration import recorder; recorder.main()"
_SECONDS_TO_END = 5.0
"""Seconds to wait for the end of the process after its answer."""


class RecorderError(SourcebookError):
    """The process could not record a run."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A run to record."""

    configuration: Path
    home: Path
    database_url: str
    dagster_url: str
    collection: str
    assets: tuple[str, ...]


class RunRecorder:
    """A process that records runs. As a context manager it ends the process, whatever the process is doing."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process and return at once; it imports Dagster."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, str(code_location())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )

    @property
    def is_started(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def begin(self, recording: Recording) -> None:
        """Name the run to record; the process opens Dagster's storage meanwhile.

        Raises:
            RecorderError: the process has ended.
        """
        self._send(recording)

    def finish(self, reports: Mapping[str, StageReport]) -> str:
        """Record the run, and return its id.

        Raises:
            RecorderError: the process has ended, or the run failed.
        """
        self._send(dict(reports))
        process = self._process
        if process is None or process.stdout is None:
            raise RecorderError("the process that records the run is not started")
        try:
            run_id, reason = pickle.load(process.stdout)  # noqa: S301 - from the child of this process
        except (EOFError, pickle.UnpicklingError) as error:
            raise RecorderError("the process that records the run has ended") from error
        if run_id is None:
            raise RecorderError(str(reason))
        return str(run_id)

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue
        process.kill()
        process.wait(_SECONDS_TO_END)

    def _send(self, message: object) -> None:
        if self._process is None or self._process.stdin is None:
            raise RecorderError("the process that records the run is not started")
        try:
            pickle.dump(message, self._process.stdin)
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError) as error:
            raise RecorderError("the process that records the run has ended") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def main() -> None:
    """Run the process: import Dagster, and record runs until the parent closes the pipe or ends."""
    end_with_parent(os.getppid())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends this process
    gc.disable()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    from orchestration.run import RecordedRuns

    runs = RecordedRuns()
    try:
        while True:
            pickle.dump(_record(runs), answers)
            answers.flush()
    except EOFError:
        os._exit(0)  # taking Dagster's objects apart takes a tenth of a second


def _record(runs: "RecordedRuns") -> tuple[str | None, str | None]:
    """Record one run; return its id, or the reason why there is none.

    Raises:
        EOFError: the parent has closed the pipe.
    """
    recording = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the parent of this process
    os.environ[DATABASE_VARIABLE] = recording.database_url
    failure: Exception | None = None
    try:
        runs.open(recording)
    except Exception as error:  # noqa: BLE001 - the parent goes on without this process
        failure = error
    reports = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the parent of this process
    try:
        if failure is None:
            return runs.execute(recording, reports), None
    except Exception as error:  # noqa: BLE001 - the parent goes on without this process
        failure = error
    return None, f"{type(failure).__name__}: {failure}"

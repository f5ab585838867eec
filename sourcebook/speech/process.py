"""A transcriber in a child process: what a broken file does to a decoder ends that one, and its memory goes with it."""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, BinaryIO, Self, cast

from sourcebook.config.speech import SpeechSettings
from sourcebook.errors import RecordingError, SpeechError
from sourcebook.model.transcript import Language, Recording, Segment, Window
from sourcebook.processes.frames import read_frame, write_frame
from sourcebook.processes.start import describe_exit, start_child

Header = dict[str, Any]


class SpeechProcess:
    """Looks at recordings and transcribes them in a child process, which ends with this one. For one thread.

    The child starts with the first recording and loads the engine with the first that is transcribed. Where it crashes,
    that recording has failed, and the next one gets another child.

    Args:
        settings: which engine and model.
        home: the folder for state; weights that have to be made are kept in `models/` below it.
    """

    def __init__(self, settings: SpeechSettings, home: Path) -> None:
        self._settings = settings
        self._home = home
        self._process: subprocess.Popen[bytes] | None = None
        self._replies: BinaryIO | None = None
        self._errors: IO[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The child's process id; None while none runs."""
        return None if self._process is None else self._process.pid

    def probe(self, place: str) -> Recording:
        """Look at a recording without transcribing it.

        Args:
            place: a local path, or a URL that fsspec opens.

        Raises:
            RecordingError: it holds no sound that can be read.
            SpeechError: no child can be started, or a package is missing.
        """
        (answer,) = self._ask({"ask": "probe", "place": place})
        return Recording(bytes.fromhex(answer["sound_sha256"]), answer["duration"], answer["title"], answer["metadata"])

    def transcribe(self, place: str, *, start: float = 0.0, language: Language | None = None) -> Iterator[Window]:
        """Yield the windows of a recording from `start` to its end.

        Args:
            place: as for `probe`.
            start: seconds; where the last window that is known ended.
            language: what that one said it is.

        Raises:
            RecordingError: its sound is damaged, or its child ended.
            SpeechError: the engine or its model cannot be loaded.
        """
        told = None if language is None else [language.code, language.probability]
        for answer in self._ask({"ask": "transcribe", "place": place, "start": start, "language": told}):
            heard = answer["language"]
            yield Window(
                answer["end"],
                None if heard is None else Language(*heard),
                tuple(Segment(*segment) for segment in answer["segments"]),
            )

    def close(self) -> None:
        """End the child at once. May be called more than once."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()  # it holds nothing that would have to be saved
        process.wait()
        for stream in (process.stdin, self._replies, self._errors):
            with suppress(OSError):
                cast("IO[bytes]", stream).close()

    def __enter__(self) -> Self:
        """Start nothing yet."""
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """End the child."""
        self.close()

    def _ask(self, request: Mapping[str, object]) -> Iterator[Header]:
        """Yield the answers to a request; where they are not read to the end, the child is ended."""
        self._start()
        is_whole = False
        try:
            with suppress(OSError):  # why the child ended is told below
                write_frame(cast("BinaryIO", cast("subprocess.Popen[bytes]", self._process).stdin), request)
            while (answer := self._read())["state"] == "part":
                yield answer
            is_whole = True
        finally:
            if not is_whole:
                self.close()
        if answer["state"] == "failed":
            raise SpeechError(answer["reason"]) if answer["engine"] else RecordingError(answer["reason"])

    def _read(self) -> Header:
        frame = read_frame(cast("BinaryIO", self._replies))
        if frame is not None:
            return frame[0]
        process = cast("subprocess.Popen[bytes]", self._process)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        reason = describe_exit(
            "the process that reads it",
            process.returncode,
            cast("IO[bytes]", self._errors),
            advice="free some, or choose a smaller speech.model",
        )
        raise RecordingError(reason)

    def _start(self) -> None:
        if self._process is not None:
            return
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        try:
            self._process, self._replies = start_child("sourcebook.speech.worker", errors)
            self._errors = errors
            first = {"parent": os.getpid(), "home": str(self._home), "settings": self._settings.model_dump(mode="json")}
            write_frame(cast("BinaryIO", self._process.stdin), first)
        except OSError as error:
            errors.close()
            raise SpeechError(f"the process for speech cannot be started: {error}") from error
        try:
            answer = self._read()
        except RecordingError as error:
            self.close()
            raise SpeechError(str(error)) from error
        if answer["state"] == "failed":
            self.close()
            raise SpeechError(answer["reason"])

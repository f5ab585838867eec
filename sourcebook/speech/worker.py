"""The tasks of a `SpeechProcess`'s child; the engine is loaded for the first recording that is transcribed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic, process_time
from typing import NamedTuple

from sourcebook.config.speech import SpeechSettings
from sourcebook.errors import FailureClass, MissingDependencyError, RecordingError, SpeechError, TemporaryRecordingError
from sourcebook.installation import install_command
from sourcebook.model.storable import storable_mapping, storable_text
from sourcebook.model.transcript import Language, Recording, Window
from sourcebook.processes.child import loading_libraries, reason_of
from sourcebook.speech.engine import Engine


class _Setup(NamedTuple):
    settings: SpeechSettings
    home: Path


_setup: _Setup
_engine: Engine | None = None
_windows: Iterator[Window] | None = None
"""Remaining windows of the recording in progress; None in a child that has begun none."""
_since = (0.0, 0.0)
"""Time, and processor time, at which the beginning of the recording, or the present window, was asked for."""


def configure(settings: SpeechSettings, home: Path) -> None:
    """Set the engine, the model and the state folder of this child."""
    global _setup
    _setup = _Setup(settings, home)


def probe(place: str) -> Recording:
    """Return what a recording is; see `sourcebook.speech.probing.probe`."""
    with _speech_errors():
        from sourcebook.speech.probing import probe

        found = probe(place, max_hours=_setup.settings.max_hours)
        title = found.title and storable_text(found.title)
        return replace(found, title=title, metadata=storable_mapping(found.metadata))


def begin(place: str, start: float, language: Language | None, track: int | None) -> None:
    """Begin to transcribe a recording; `next_window` returns its windows."""
    global _since, _windows
    _since = (monotonic(), process_time())
    with _speech_errors():
        from sourcebook.speech.decoding import decode_channels
        from sourcebook.speech.transcriber import transcribe

        is_set = _setup.settings.language != "auto"
        if is_set:
            language = Language(_setup.settings.language, 1.0)
        _windows = transcribe(
            decode_channels(place, start=start, track=track),
            _loaded_engine(),
            start=start,
            language=language,
            is_set=is_set,
        )


def next_window() -> Window | None:
    """Return the next window of the recording, with the time that it took; None after the last."""
    global _since
    with _speech_errors():
        if _windows is None:  # this child took the place of the one that began
            raise TemporaryRecordingError("the process that reads it ended between two windows", FailureClass.CRASH)
        started, used = _since
        window = next(_windows, None)
        _since = (monotonic(), process_time())
    return window and replace(window, seconds=_since[0] - started, processor_seconds=_since[1] - used)


def _loaded_engine() -> Engine:
    global _engine
    if _engine is None:
        from sourcebook.speech.engines.loading import load_engine

        with loading_libraries():
            _engine = load_engine(_setup.settings, _setup.home)
    return _engine


@contextmanager
def _speech_errors() -> Iterator[None]:
    """Raise `SpeechError` where the engine fails, and `RecordingError` for any other error."""
    try:
        try:
            import av  # noqa: F401 - everything else in speech needs it
        except ImportError as error:
            raise SpeechError(
                f"recordings need packages that are not installed: {install_command('pipeline')}"
            ) from error
        yield
    except (SpeechError, RecordingError):
        raise
    except MissingDependencyError as error:
        raise SpeechError(str(error)) from None
    except MemoryError as error:
        raise TemporaryRecordingError(reason_of(error), FailureClass.MEMORY) from None
    except Exception as error:  # noqa: BLE001 - this recording failed: the parent reports it, and the next may succeed
        raise RecordingError(reason_of(error), FailureClass.OTHER) from None

"""The program of a `SpeechProcess`'s child: looks at recordings and transcribes them."""

from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any, BinaryIO

from sourcebook.config.speech import SpeechSettings
from sourcebook.errors import MissingDependencyError, SpeechError
from sourcebook.installation import install_command
from sourcebook.model.transcript import Language
from sourcebook.processes.frames import write_frame
from sourcebook.processes.serve import Answer, Header, reason_of, serve
from sourcebook.speech.engine import Engine

Request = dict[str, Any]


class _Worker:
    """Answers requests; the engine is loaded for the first recording that is transcribed."""

    def __init__(self, settings: SpeechSettings, home: Path) -> None:
        self._settings = settings
        self._home = home
        self._engine: Engine | None = None

    def answer(self, request: Request, replies: BinaryIO) -> None:
        """Write an answer in parts; the last frame says how it ended."""
        try:
            for part in self._probe(request) if request["ask"] == "probe" else self._transcribe(request):
                write_frame(replies, {"state": "part", **part})
        except BrokenPipeError:
            raise
        except Exception as error:  # noqa: BLE001 - this recording failed: the parent tells it, and the next may succeed
            is_engine = isinstance(error, SpeechError | MissingDependencyError)
            write_frame(replies, {"state": "failed", "engine": is_engine, "reason": reason_of(error)})
            return
        write_frame(replies, {"state": "done"})

    def _probe(self, request: Request) -> Iterator[Header]:
        from sourcebook.speech.probing import probe

        found = probe(request["place"], max_hours=self._settings.max_hours)
        yield {
            "sound_sha256": found.sound_sha256.hex(),
            "duration": found.duration,
            "title": found.title,
            "metadata": dict(found.metadata),
        }

    def _transcribe(self, request: Request) -> Iterator[Header]:
        from sourcebook.speech.decoding import decode
        from sourcebook.speech.transcriber import transcribe

        told = request["language"]
        language = None if told is None else Language(*told)
        if language is None and self._settings.language != "auto":
            language = Language(self._settings.language, 1.0)
        start = request["start"]
        for window in transcribe(decode(request["place"], start=start), self._loaded(), start=start, language=language):
            yield {
                "end": window.end,
                "language": None if window.language is None else astuple(window.language),
                "segments": [astuple(segment) for segment in window.segments],
            }

    def _loaded(self) -> Engine:
        if self._engine is None:
            from sourcebook.speech.engines.loading import load_engine

            self._engine = load_engine(self._settings, self._home)
        return self._engine


def _load(settings: Header) -> Answer:
    try:
        import av  # noqa: F401 - what everything else here needs
    except ImportError as error:
        raise MissingDependencyError(
            f"recordings need packages that are not installed: {install_command('speech')}"
        ) from error
    return _Worker(SpeechSettings.model_validate(settings["settings"]), Path(str(settings["home"]))).answer


if __name__ == "__main__":
    serve(_load)

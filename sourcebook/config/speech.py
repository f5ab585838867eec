"""The settings of transcription: `speech:` of a collection."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import ByteCount, Settings, Text

_CODES: Final = (
    "af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he hi hr ht hu hy "
    "id is it ja jv ka kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc pa pl ps pt ro ru "
    "sa sd si sk sl sn so sq sr su sv sw ta te tg th tk tl tr tt uk ur uz vi yi yo yue zh"
)
LANGUAGES: Final = frozenset(_CODES.split())
"""Codes of the languages that Whisper knows: ISO 639-1, or a longer code where that has none."""

EngineName = Literal["openai-whisper", "faster-whisper"]


def _language(language: str) -> str:
    if language != "auto" and language not in LANGUAGES:
        raise PydanticCustomError("language", "this is neither auto nor the code of a language that Whisper knows")
    return language


Language = Annotated[Text, AfterValidator(_language)]


class SpeechSettings(Settings):
    """How recordings are transcribed. A change of engine, model or language transcribes them again."""

    engine: EngineName = Field(default="openai-whisper", description="openai-whisper or faster-whisper")
    """Engine that transcribes [recordings](recordings.md); `faster-whisper` takes half the time."""
    model: Text = Field(default="base", description="the name of a Whisper model such as base, or the path of one")
    """Whisper model; the weights of `base` come with the installation, others are downloaded once."""
    language: Language = Field(
        default="auto", description="auto, or the code of a language that Whisper knows, such as en"
    )
    """Spoken language; `auto` detects it."""
    max_hours: float = Field(default=10.0, gt=0, le=1000, description="a number of hours above 0, at most 1000")
    """Longest recording in hours; longer ones fail."""
    max_bytes: ByteCount = Field(
        default=10_000_000_000, description="a size from 1 to 1TiB, as a whole number of bytes or as 10GB"
    )
    """Largest recording; larger ones are listed as skipped."""

"""Types of settings: names, patterns, sizes, durations and paths."""

import os
import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationInfo
from pydantic_core import PydanticCustomError

from sourcebook.config.paths import expand_user as expand_user

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,62}")
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,3})?)\s*(b|[kmgt]i?b)?", re.IGNORECASE)
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s*(s|m|min|h|d|w)", re.IGNORECASE)
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_UNITS = {prefix: number for number, prefix in enumerate("bkmgt")}

NAME_RULE = "1 to 63 letters, digits, `_`, `-` or single dots, beginning with a letter or digit"
"""The rule for names of collections, as error messages quote it."""


class Settings(BaseModel):
    """Base class of settings: immutable, without unknown keys. A field's description names the allowed values."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_timedelta="float")


def absolute_path(path: str | None, info: ValidationInfo) -> str | None:
    """Return a setting's path as an absolute one, relative to the folder of the configuration file."""
    if path is None or not info.context:
        return path
    folder: Path = info.context["folder"]
    return os.path.realpath(folder / expand_user(path))


def is_collection_name(name: str) -> bool:
    """Return whether a text can be the name of a collection."""
    return _NAME.fullmatch(name) is not None


def _collection_name(name: str) -> str:
    if not is_collection_name(name):
        raise PydanticCustomError("collection_name", "a collection's name is {rule}", {"rule": NAME_RULE})
    return name


def _byte_count(size: Any) -> Any:
    """Read `100MB` or `1.5 GiB`; any other text is left to the check that follows."""
    parts = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if parts is None:
        return size
    unit = (parts[2] or "b").lower()
    return int(float(parts[1]) * (1024 if "i" in unit else 1000) ** _UNITS[unit[0]])


def _duration(duration: Any) -> Any:
    """Read `30s`, `15m`, `12h`, `1d` or `1w`; refuse any other text."""
    if isinstance(duration, timedelta | int | float) and not isinstance(duration, bool):
        return duration
    parts = _DURATION.fullmatch(duration.strip()) if isinstance(duration, str) else None
    if parts is None:
        raise PydanticCustomError("duration", "this is no duration")
    return float(parts[1]) * _SECONDS[parts[2].lower()]


def written_duration(duration: timedelta) -> str:
    """Return a duration as a setting is written: `30d`, `12h`, `90s`."""
    seconds = duration.total_seconds()
    unit = next((unit for unit in ("d", "h", "m") if seconds % _SECONDS[unit] == 0), "s")
    return f"{seconds / _SECONDS[unit]:.16g}{unit}"


def _pattern(pattern: str) -> str:
    """Return a pattern in the form that matches paths: `./drafts/` becomes `drafts/**`."""
    if pattern.startswith("/") or ".." in pattern.split("/"):
        raise PydanticCustomError("pattern", "a pattern is relative to the root, without `/` in front or `..` in it")
    pattern = pattern.removeprefix("./")
    return f"{pattern}**" if pattern.endswith("/") or not pattern else pattern


def _without_repetition(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


CollectionName = Annotated[str, AfterValidator(_collection_name)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4096)]
Pattern = Annotated[Text, AfterValidator(_pattern)]
FilePath = Annotated[Text | None, AfterValidator(absolute_path)]
"""A path relative to the folder of the configuration file, made absolute; None where unset."""
Words = Annotated[tuple[Text, ...], AfterValidator(_without_repetition)]
Duration = Annotated[timedelta, BeforeValidator(_duration), Field(gt=timedelta(0), le=timedelta(days=3650))]
"""A number of seconds, or text such as `30s`, `15m`, `12h`, `1d`, `1w`."""
ByteCount = Annotated[int, BeforeValidator(_byte_count), Field(strict=True, ge=1, le=1024**4)]

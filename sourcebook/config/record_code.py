"""The settings of code that yields records, and the refusal of secrets in settings that are handed to others."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import Settings, Text
from sourcebook.config.site_types import REFERENCE

_SECRET: Final = re.compile(
    r"(?i)(token|secret|password|api_?key)(?!.*(url|path|param|name|type)$)|(authorization|cookie|private_key)$"
)


class CodeSettings(Settings):
    """A class or a function in a module beside the configuration file, or in a package."""

    arguments: dict[str, Any] = Field(
        default={}, description="a mapping from arguments of the class or function to values; secrets as ${NAME}"
    )
    """Arguments of the class or function."""
    folder: Text | None = Field(default=None, description="the folder of the module; unset: that of this file")
    """Folder of the module, relative to this file."""

    @field_validator("arguments")
    @classmethod
    def _no_secret_in_clear(cls, arguments: Any, info: ValidationInfo) -> Any:
        return without_secrets(arguments, info)

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, written: Any, info: ValidationInfo) -> Any:
        """Read the name of the code alone, and find modules beside the configuration file."""
        written = {"use": written} if isinstance(written, str) else written
        if not info.context or not isinstance(written, dict):
            return written
        return {**written, "folder": os.path.realpath(info.context["folder"] / str(written.get("folder") or "."))}


def without_secrets(written: Any, info: ValidationInfo) -> Any:
    """Return what is written; refuse a literal secret in it, which the database would contain in clear."""
    if info.context and (inside := next(_literal_secrets(written), None)):
        raise PydanticCustomError("secret", "a secret is kept in the environment", {"inside": inside})
    return written


def _literal_secrets(written: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield where a mapping has a value of a secret's name that no variable holds."""
    if isinstance(written, Mapping):
        for name, value in written.items():
            if isinstance(value, str) and _SECRET.search(str(name)) and not REFERENCE.search(value):
                yield (*at, str(name))
            yield from _literal_secrets(value, (*at, str(name)))
    elif isinstance(written, list):
        for number, value in enumerate(written):
            yield from _literal_secrets(value, (*at, number))

"""Settings of redaction."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import FilePath, Settings, Text
from sourcebook.redaction.categories import DEFAULT_CATEGORIES, KNOWN_CATEGORIES

_REGION_LENGTH: Final = 2


def _category(name: str) -> str:
    if name not in KNOWN_CATEGORIES:
        raise PydanticCustomError("category", "a category is one of {known}", {"known": ", ".join(KNOWN_CATEGORIES)})
    return name


def _region(code: str) -> str:
    if len(code) != _REGION_LENGTH or not (code.isascii() and code.isalpha()):
        raise PydanticCustomError("region", "a region is a code of ISO 3166 with two letters, such as DE")
    return code.upper()


class RedactionSettings(Settings):
    """Personal data and secrets that are replaced wherever content of the collection is shown, or is stored."""

    at: Literal["output", "ingest"] = Field(
        default="output",
        description="output: what is stored stays whole, and what leaves it is redacted; ingest: it is stored redacted",
    )
    categories: tuple[Annotated[str, AfterValidator(_category)], ...] = Field(
        default=DEFAULT_CATEGORIES, description="a list such as [email, phone, card, token]"
    )
    patterns: FilePath = Field(
        default=None, description="a YAML file of labels and patterns of RE2, such as EMPLOYEE: 'E-[0-9]{6}'"
    )
    region: tuple[Annotated[Text, AfterValidator(_region)], ...] = Field(
        default=(), description="a list of countries whose phone numbers are known without a country code, such as [DE]"
    )

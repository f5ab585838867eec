"""Settings of redaction."""

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import FilePath, Settings, Text
from sourcebook.redaction.categories import CATEGORIES, DEFAULT_CATEGORIES, KNOWN_CATEGORIES
from sourcebook.redaction.for_models import AT_MODELS

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

    at: Literal["output", "ingest", "models"] = Field(
        default="output",
        description="output: what is stored stays whole, and what leaves it is redacted; ingest: it is stored redacted"
        "; models: what language models read is redacted, and people see all",
    )
    """Place where personal data and secrets are [redacted](redaction.md): wherever content leaves the collection,
    [before it is stored](redaction.md#at-ingestion), or [where language models read
    it](redaction.md#what-language-models-read). Language models see no secrets without `redaction`, either."""
    categories: tuple[Annotated[str, AfterValidator(_category)], ...] = Field(
        default=DEFAULT_CATEGORIES, description="a list such as [email, phone, card, token]"
    )
    """[Categories](redaction-categories.md#categories) that are redacted; unset: all but `private_ip`, `internal_url`
    and `name`, with `at: models` all but `name`."""
    patterns: FilePath = Field(
        default=None, description="a YAML file of labels and patterns of RE2, such as EMPLOYEE: 'E-[0-9]{6}'"
    )
    """File of [patterns of your own](redaction-categories.md#patterns-of-your-own), relative to this file."""
    region: tuple[Annotated[Text, AfterValidator(_region)], ...] = Field(
        default=(), description="a list of countries whose phone numbers are known without a country code, such as [DE]"
    )
    """Countries whose phone numbers are known without a country code."""

    @model_validator(mode="before")
    @classmethod
    def _with_categories_of_models(cls, given: Any) -> Any:
        """Take every category of the rules where models alone read redacted texts and none is named."""
        if isinstance(given, dict) and given.get("at") == AT_MODELS:
            return {"categories": CATEGORIES, **given}
        return given

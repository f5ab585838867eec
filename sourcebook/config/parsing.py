"""The settings of how documents are read: `parsing:` of a collection."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from sourcebook.config.field_types import ByteCount, Duration, Settings, Text

PdfParser = Literal["sourcebook", "docling"]


class ParsingSettings(Settings):
    """How the collection's files become documents. Another parser, or OCR or not, means reading them again."""

    parser: PdfParser = Field(default="sourcebook", description="sourcebook or docling")
    models: Text | None = Field(
        default=None, description="the folder of docling's models; without it docling downloads them"
    )
    ocr: bool = Field(default=True, strict=True, description="true or false")
    timeout: Duration = Field(
        default=timedelta(seconds=120), description="a duration such as 120s; each page of a document adds a second"
    )
    memory: ByteCount = Field(
        default=4_000_000_000, ge=500_000_000, description="a size from 500MB to 1TiB, such as 4GB"
    )

    @field_validator("models")
    @classmethod
    def _absolute(cls, models: str | None, info: ValidationInfo) -> str | None:
        """Take a relative path from the folder of the file that the settings come from."""
        if models is None or not info.context:
            return models
        folder: Path = info.context["folder"]
        return os.path.realpath(folder / os.path.expanduser(models))  # noqa: PTH111 - as for roots

"""The settings of parsing: `parsing:` of a collection."""

from datetime import timedelta
from typing import Literal

from pydantic import Field

from sourcebook.config.field_types import ByteCount, Duration, FilePath, Settings

PdfParser = Literal["sourcebook", "docling"]
HtmlPart = Literal["main", "body", "everything"]
"""Part of a web page that becomes text: its main content; its body without site menus and footers; or all of it."""
SAVED_PAGE: HtmlPart = "body"
"""Part of a saved page that is kept where no setting names one."""


class ParsingSettings(Settings):
    """How files are parsed. A change of the parser or of OCR parses them again."""

    parser: PdfParser = Field(default="sourcebook", description="sourcebook or docling")
    models: FilePath = Field(
        default=None, description="the folder of docling's models; without it docling downloads them"
    )
    ocr: bool = Field(default=True, strict=True, description="true or false")
    html: Literal["auto", "main", "body", "everything"] = Field(
        default="auto", description="auto, main, body or everything"
    )
    timeout: Duration = Field(
        default=timedelta(seconds=120), description="a duration such as 120s; each page of a document adds a second"
    )
    memory: ByteCount = Field(
        default=4_000_000_000, ge=500_000_000, description="a size from 500MB to 1TiB, such as 4GB"
    )

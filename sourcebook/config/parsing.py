"""The settings of parsing: `parsing:` of a collection."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from sourcebook.config.field_types import ByteCount, Duration, FilePath, Settings
from sourcebook.config.html_part import HtmlPart

PdfParser = Literal["sourcebook", "docling"]
SAVED_PAGE: HtmlPart = "body"
"""Part of a saved page that is kept where no setting names one."""
_MEMORY = 2_000_000_000
_MEMORY_WITH_MODELS = 4_000_000_000
_LANGUAGE = r"(script/)?[A-Za-z]{2,20}(_[A-Za-z]{1,10})*"
_LEAST_SHARE = 500_000_000
_LEAST_SHARE_WITH_MODELS = 2_000_000_000
_MEMORY_OF_OCR = 1_400_000_000


class ParsingSettings(Settings):
    """How files are parsed. A change of the parser or of OCR parses them again."""

    parser: PdfParser = Field(default="sourcebook", description="sourcebook or docling")
    models: FilePath = Field(
        default=None, description="the folder of docling's models; without it docling downloads them"
    )
    ocr: bool = Field(default=True, strict=True, description="true or false")
    ocr_languages: tuple[Annotated[str, StringConstraints(strict=True, pattern=rf"^{_LANGUAGE}$")], ...] = Field(
        default=(), max_length=8, description="up to 8 of Tesseract's names of languages, such as [rus, ara]"
    )
    pictures: Literal["auto", "all", "none"] = Field(default="auto", description="auto, all or none")
    html: Literal["auto", "main", "body", "everything"] = Field(
        default="auto", description="auto, main, body or everything"
    )
    timeout: Duration = Field(
        default=timedelta(seconds=120), description="a duration such as 120s; each page of a document adds a second"
    )
    longest: Duration = Field(
        default=timedelta(hours=1), description="a duration such as 1h, the time limit of a document of any size"
    )
    memory: ByteCount = Field(default=_MEMORY, ge=500_000_000, description="a size from 500MB to 1TiB, such as 4GB")

    @property
    def memory_limit(self) -> int:
        """Most memory of all parsers together in bytes; docling's models get 4 GB where no setting says otherwise."""
        with_models = self.parser == "docling" and "memory" not in self.model_fields_set
        return _MEMORY_WITH_MODELS if with_models else self.memory

    @property
    def least_share(self) -> int:
        """Bytes of memory that a parser has at least where several work at once."""
        return _LEAST_SHARE_WITH_MODELS if self.parser == "docling" else _LEAST_SHARE

    @property
    def memory_of_models(self) -> int:
        """Bytes of memory of a parser that reads pictures of pages: 1.2 GB were measured for OCR."""
        return _LEAST_SHARE_WITH_MODELS if self.parser == "docling" else _MEMORY_OF_OCR

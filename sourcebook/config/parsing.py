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
    """Parser of PDFs: `sourcebook`, without models, or `docling`, with its layout and table models where they are
    installed: see [formats](pdf.md)."""
    models: FilePath = Field(
        default=None, description="the folder of docling's models; without it docling downloads them"
    )
    """Folder of docling's models, relative to this file; unset: docling downloads them once."""
    ocr: bool = Field(default=True, strict=True, description="true or false")
    """OCR of pages and pictures without a text layer; without it they are listed as skipped."""
    ocr_languages: tuple[Annotated[str, StringConstraints(strict=True, pattern=rf"^{_LANGUAGE}$")], ...] = Field(
        default=(), max_length=8, description="up to 8 of Tesseract's names of languages, such as [rus, ara]"
    )
    """Languages of Tesseract for scans in letters that RapidOCR does not know: see
    [formats](scans.md)."""
    pictures: Literal["auto", "all", "none"] = Field(default="auto", description="auto, all or none")
    """Pictures in documents with text that are read: with `auto` those that [are the
    text](scans.md#pictures-inside-documents)."""
    html: Literal["auto", "main", "body", "everything"] = Field(
        default="auto", description="auto, main, body or everything"
    )
    """Part of a web page that is kept: `main`, its content without menus, banners and footers; `body`, all but the
    menus above its first heading and its footers; or `everything`. `auto` is `body` for saved pages and `main` for
    crawled pages: see [formats](web-pages.md)."""
    records: Literal["auto", "always", "never"] = Field(default="auto", description="auto, always or never")
    """Whether each record of a JSON, JSON Lines, CSV, YAML or XML file is a document of its own: with `auto` where it
    is an export of many, with `always` wherever there are rows: see [formats](data-files.md#records)."""
    timeout: Duration = Field(
        default=timedelta(seconds=120), description="a duration such as 120s; each page of a document adds a second"
    )
    """Maximum time for parsing one document, without waiting for a core. Each page adds a second, each page with OCR
    ten, in all a minute and a second for each 2 kB of the file at most."""
    longest: Duration = Field(
        default=timedelta(hours=1), description="a duration such as 1h, the time limit of a document of any size"
    )
    """Maximum time for parsing one document with all that its pages add."""
    memory: ByteCount = Field(default=_MEMORY, ge=500_000_000, description="a size from 500MB to 1TiB, such as 4GB")
    """Maximum memory of all parsers together: see [memory of parsers](#memory-of-parsers)."""

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

"""Readers of PDFs, in a virtual environment of their own.

    python pdf_readers.py READER OUT FILE...

It needs nothing but the packages of pdf_readers_requirements.txt. OUT gets a line of JSON for each file: its seconds,
and the text of its pages, or of the whole file where the reader gives no pages; null for a file that it cannot read.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path


def main() -> None:
    reader = READERS[sys.argv[1]]
    with Path(sys.argv[2]).open("w", encoding="utf-8") as out:
        for file in sys.argv[3:]:
            started = time.perf_counter()
            try:
                pages = reader(file)
            except Exception as error:  # noqa: BLE001 # what it cannot read counts against it
                print(f"{sys.argv[1]}: {file}: {error}", file=sys.stderr)
                pages = None
            seconds = time.perf_counter() - started
            out.write(json.dumps({"file": file, "seconds": seconds, "pages": pages}) + "\n")


def pypdfium2(file: str) -> list[str]:
    import pypdfium2  # type: ignore[import-untyped] # has no stubs

    with pypdfium2.PdfDocument(file) as document:
        return [page.get_textpage().get_text_range() for page in document]


def pdfminer(file: str) -> list[str]:
    from pdfminer.high_level import extract_pages  # type: ignore[import-not-found]
    from pdfminer.layout import LTTextContainer  # type: ignore[import-not-found]

    return [
        "\n".join(part.get_text() for part in page if isinstance(part, LTTextContainer)) for page in extract_pages(file)
    ]


def pdf_oxide(file: str) -> list[str]:
    from pdf_oxide import PdfDocument  # type: ignore[import-not-found]

    document = PdfDocument(file)
    return [document.to_markdown(number) for number in range(document.page_count())]


def liteparse(file: str) -> list[str]:
    from liteparse import LiteParse  # type: ignore[import-not-found]

    return [page.text for page in LiteParse(ocr_enabled=False).parse(file).pages]


def pymupdf4llm(file: str) -> list[str]:
    from pymupdf4llm import to_markdown  # type: ignore[import-not-found]

    return [page["text"] for page in to_markdown(file, page_chunks=True, show_progress=False)]


def markitdown(file: str) -> list[str]:
    from markitdown import MarkItDown  # type: ignore[import-not-found]

    return [MarkItDown().convert(file).text_content]


READERS: dict[str, Callable[[str], list[str]]] = {
    reader.__name__: reader for reader in (pypdfium2, pdfminer, pdf_oxide, liteparse, pymupdf4llm, markitdown)
}

if __name__ == "__main__":
    main()

"""Small EPUB files for tests."""

from collections.abc import Mapping
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""


def chapter(body: str, *, attributes: str = "") -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html [<!ENTITY x "y">]>'
        '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title/></head>'
        f"<body {attributes}>{body}</body></html>"
    )


def package(
    parts: Mapping[str, str], *, metadata: str = "<dc:title>A Book</dc:title>", manifest: str = "", guide: str = ""
) -> str:
    items = "".join(f'<item id="i{n}" href="{href}" {extra}/>' for n, (href, extra) in enumerate(parts.items()))
    spine = "".join(f'<itemref idref="i{n}"/>' for n in range(len(parts)))
    return (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">{metadata}</metadata>'
        f"<manifest>{items}{manifest}</manifest><spine>{spine}</spine><guide>{guide}</guide></package>"
    )


def epub(members: Mapping[str, str | bytes], *, container: str | None = CONTAINER) -> bytes:
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", compress_type=0)
        if container is not None:
            archive.writestr("META-INF/container.xml", container)
        for path, content in members.items():
            archive.writestr(path, content)
    return buffer.getvalue()

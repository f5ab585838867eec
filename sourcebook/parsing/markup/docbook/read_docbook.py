"""DocBook 4 and 5 as Markdown, by way of HTML; other files are never included."""

from typing import Any

from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.html.cleaner import readable_body, write_everything
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.markup.docbook.information import declared_language, is_information, metadata_of
from sourcebook.parsing.markup.docbook.names import SECTIONS
from sourcebook.parsing.markup.docbook.renaming import Renaming
from sourcebook.parsing.markup.xml_tree import elements, first_of, local_name, text_root, words_of
from sourcebook.parsing.text.decode import clean
from sourcebook.parsing.text.titles import cut_title, document_title


def parse_docbook(content: bytes) -> ParsedDocument:
    """Parse a document: sections with their ids as anchors, lists, tables, code, notes and footnotes.

    Entities are shown as they are written, except the names of characters. An XInclude is shown, not read.

    Raises:
        ParseError: The file is damaged, or holds entities that grow.
    """
    root = text_root(content)
    metadata, language = metadata_of(root), declared_language(root)
    title = _title(root)
    Renaming(root).run()
    body = readable_body(etree.tostring(root, method="html", encoding="unicode"))
    if body is None:
        raise ParseError("it holds no text; check its file name", FailureClass.EMPTY)
    written = write_everything(body, base_url="")
    blocks = written.blocks()
    return ParsedDocument(
        markdown=written.markdown,
        blocks=blocks,
        title=cut_title(clean(title)) or document_title(blocks),
        language=language or detect_language(written.markdown, blocks),
        metadata=metadata,
    )


def _title(root: Any) -> str:
    if local_name(root) not in SECTIONS:
        return ""
    information = [child for child in elements(root) if is_information(local_name(child))]
    titles = [words_of(first_of(part, "title")) for part in (root, *information)]
    return next(filter(None, titles), "")

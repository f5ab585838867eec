"""LaTeX documents as Markdown, their formulas unchanged."""

from sourcebook.model.document import JsonValue, ParsedDocument
from sourcebook.parsing.dates import iso_date
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.markup.latex.glossaries import with_terms
from sourcebook.parsing.markup.latex.macros import expanded
from sourcebook.parsing.markup.latex.writer import LatexWriter
from sourcebook.parsing.text.decode import decode
from sourcebook.parsing.text.markdown import markdown_blocks
from sourcebook.parsing.text.titles import document_title, plain_title

__all__ = ["parse_latex"]


def parse_latex(content: bytes, *, name: str) -> ParsedDocument:
    """Parse a document: its own macros are expanded, comments removed, and other files never read."""
    decoded = decode(content)
    text = with_terms(expanded(decoded.text))
    writer = LatexWriter(text)
    pieces = writer.document()
    markdown = "\n\n".join(piece for piece in pieces if piece.strip())
    markdown += "\n" if markdown else ""
    blocks = tuple(markdown_blocks(markdown))
    metadata: dict[str, JsonValue] = {"encoding": decoded.encoding}
    if author := plain_title(writer.properties.get("author", "")):
        metadata["author"] = author
    if date := writer.properties.get("date"):
        metadata["date"] = iso_date(date) or date
    return ParsedDocument(
        markdown=markdown,
        blocks=blocks,
        title=plain_title(writer.properties.get("title", "")) or document_title(blocks),
        language=detect_language(markdown, blocks),
        metadata=metadata,
    )

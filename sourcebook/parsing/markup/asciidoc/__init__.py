"""AsciiDoc."""

from sourcebook.parsing.markup.asciidoc.read_asciidoc import parse_asciidoc

__all__ = ["parse_asciidoc"]

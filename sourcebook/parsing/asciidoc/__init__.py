"""AsciiDoc."""

from sourcebook.parsing.asciidoc.parse import parse_asciidoc

__all__ = ["parse_asciidoc"]

"""E-books."""

from sourcebook.parsing.epub.parse import parse_epub

__all__ = ["parse_epub"]

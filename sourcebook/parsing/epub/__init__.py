"""EPUB e-books."""

from sourcebook.parsing.epub.read_epub import parse_epub

__all__ = ["parse_epub"]

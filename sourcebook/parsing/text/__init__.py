"""Parsers of plain text, Markdown, CSV, data files and source code."""

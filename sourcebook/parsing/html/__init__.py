"""HTML pages, from bytes to Markdown."""

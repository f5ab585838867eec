"""Plain text, Markdown, CSV, data and code."""

"""Markdown as documentation tools write it, read as plain Markdown; see `plain_markdown`."""

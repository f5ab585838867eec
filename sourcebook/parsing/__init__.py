"""Formats of files: bytes in, Markdown and its blocks out, by one small parser a format."""

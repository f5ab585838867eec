"""Bytes in, Markdown and its blocks out: one small parser a format."""

"""Chunking of documents into passages with headings, position and token count."""

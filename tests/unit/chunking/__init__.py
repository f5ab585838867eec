"""Tests of sourcebook.chunking."""

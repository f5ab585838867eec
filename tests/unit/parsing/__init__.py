"""Tests of sourcebook.parsing."""

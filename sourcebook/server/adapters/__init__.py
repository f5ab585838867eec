"""Protocols of other programs: over the same knowledge base, keys and grants."""

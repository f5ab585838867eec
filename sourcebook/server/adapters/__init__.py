"""Adapters: the protocols of other programs, over the same knowledge base, keys and grants."""

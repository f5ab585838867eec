"""Embedding by a provider: vectors over HTTP, in OpenAI's protocol."""

"""Publish chunks and embeddings as one searchable index per generation."""

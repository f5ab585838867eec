"""Reranking: a cross encoder reads the query with each of the first candidates and gives each pair a score."""

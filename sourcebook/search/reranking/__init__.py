"""Reranking: a cross encoder reads the query with each of the first candidates and orders them anew."""

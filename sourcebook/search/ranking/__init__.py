"""Ranking: the scope of a search, its candidates from both legs, their order, and their relevance."""

"""Hybrid search: query planning, legs, fusion, results."""

"""Embedding models: texts in, unit vectors out. Importing this package imports no model code."""

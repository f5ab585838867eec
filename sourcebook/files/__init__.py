"""Listing and reading of files in folders and behind fsspec URLs."""

"""Fetch one URL: safely, politely, and again where that may help."""

"""Puts the project together, and runs it."""

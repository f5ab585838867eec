"""Sensors that request runs, one per file."""

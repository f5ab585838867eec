"""Rendering of pages in a headless Chromium."""

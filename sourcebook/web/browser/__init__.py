"""Render pages in a headless Chromium of our own."""

"""Recordings: decode sound, find speech in it, transcribe it."""

"""Pixels in, lines of text out: RapidOCR with the weights in its wheel."""

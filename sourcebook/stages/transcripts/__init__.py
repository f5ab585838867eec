"""The stage `transcripts`; see `update`."""

"""The stage `transcripts`."""

from sourcebook.stages.transcripts.update import update_transcripts

__all__ = ["update_transcripts"]

"""The plan of a run: what it is to do, in a tag of the run and in the metadata of its first asset."""

PLAN = "sourcebook/plan"
"""Tag of a run with its planned items by reason, texts and seconds in one line."""

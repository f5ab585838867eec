"""The assets of the pipeline, one per file, named after their keys."""

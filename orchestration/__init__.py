"""The code location, and the commands that run the pipeline."""

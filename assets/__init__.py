"""The asset graph: one asset a file, named after its key."""

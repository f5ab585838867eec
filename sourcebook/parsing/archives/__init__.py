"""Archives as folders: each file in one is a document of its own."""

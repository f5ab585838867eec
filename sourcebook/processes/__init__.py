"""Programs of our own that work in a process of theirs: their imports, their memory and their crashes stay there."""

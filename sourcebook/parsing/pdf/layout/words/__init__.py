"""What a text says by its letters: numbers, marks of lists, divided words."""

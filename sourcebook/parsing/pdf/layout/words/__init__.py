"""Words by their letters: numbers, marks of lists, divided words."""

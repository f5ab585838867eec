"""Signs and words by which a line says whether its sentence is over."""

STOPS = ".!?。！？…।॥؟۔։።។။"
"""Signs that end a sentence, in all scripts."""
LINKING_WORD = r"\b(?:an?|and|by|for|in|of|or|that|the|to|with)"
"""Pattern of English words behind which no sentence and no title ends."""

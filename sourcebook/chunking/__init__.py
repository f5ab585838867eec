"""Documents into passages that know their headings, their place and their tokens."""

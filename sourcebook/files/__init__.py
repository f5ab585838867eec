"""Stage one: list sources, and keep the inventory of raw files."""

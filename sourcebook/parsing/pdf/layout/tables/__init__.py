"""Which lines are a table, with and without drawn lines."""

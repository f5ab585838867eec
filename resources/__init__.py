"""How the assets reach the outside: one resource a file."""

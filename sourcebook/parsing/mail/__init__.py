"""Messages and what came with them."""

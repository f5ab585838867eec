"""The server: the knowledge base over HTTP, with no logic of its own."""

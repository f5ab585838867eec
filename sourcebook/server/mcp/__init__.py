"""The Model Context Protocol: the knowledge base for agents, over stdio and over HTTP."""

"""The tools of the MCP server, a module for each kind; each asks the knowledge base and fits the answer."""

"""Web sites as a source: fetch pages politely, and keep the frontier of what is left to fetch."""

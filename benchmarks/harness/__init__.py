"""The measuring: libraries to fill, child processes with their memory, latencies, servers, and the table."""

"""Several server processes on one port: started, watched and ended together, with common limits and counters."""

"""From the bytes of an HTML page to its main content."""

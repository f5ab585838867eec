"""HTTP requests to sites: address checks, request rates, retries, robots.txt."""

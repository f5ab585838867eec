"""Identity: for whom a request asks, by its key, a trusted front end's header, or a signed token."""

"""Persons and groups of a request: by its key, a trusted front end's header, or a signed token."""

"""`make release`: build, check and tag the version in pyproject.toml."""

"""The page: search and documents for people, as HTML that needs no script."""

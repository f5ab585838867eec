"""The page of a search: its passages read and marked, redacted, related to others, and reported."""

"""`sourcebook.yaml` as typed settings, and errors with line and column."""

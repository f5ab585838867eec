"""`sourcebook.yaml` as typed settings: one module per section, loading, editing, and errors with line and column."""

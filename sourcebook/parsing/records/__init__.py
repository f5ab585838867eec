"""Records in files: an export of issues, tickets or products is a document a record; one thing stays one document."""

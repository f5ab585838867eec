"""The database: where it is, its schema, and the SQL."""

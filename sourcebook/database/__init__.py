"""The database: location, connections, schema, and the SQL of the project."""

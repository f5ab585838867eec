"""Files of tables, described: columns, number of rows, first rows."""

"""What the faces of a knowledge base exchange: requests, results and the table of operations; no SQL and no driver."""

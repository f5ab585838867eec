"""Look after a knowledge base: its state, what an ingest would do, checks, removal, collections, the doctor."""

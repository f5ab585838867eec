"""The work of the next ingest: reasons item by item, texts to embed, and a forecast of its seconds."""

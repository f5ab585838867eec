"""docling's backends, and its documents as Markdown."""

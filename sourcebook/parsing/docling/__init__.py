"""docling's backends and pipeline, and its documents written as Markdown."""

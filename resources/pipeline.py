"""Names of the pipeline's assets; without Dagster, for commands that run none of it."""

from typing import Final

PIPELINE: Final = (
    "raw_files",
    "crawled_pages",
    "transcripts",
    "documents",
    "chunks",
    "embeddings",
    "search_index",
    "index_upkeep",
)
"""Names of the assets of the job `ingest`, in the order in which they run."""

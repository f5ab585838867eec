"""The job `ingest`: every asset and check of one collection."""

import dagster as dg

from assets.chunks import chunks
from assets.crawled_pages import crawled_pages
from assets.documents import documents
from assets.embeddings import embeddings
from assets.index_upkeep import index_upkeep
from assets.raw_files import raw_files
from assets.search_index import search_index
from assets.transcripts import transcripts

ASSETS = (raw_files, crawled_pages, transcripts, documents, chunks, embeddings, search_index, index_upkeep)

ingest = dg.define_asset_job(
    "ingest",
    selection=dg.AssetSelection.assets(*ASSETS),
    executor_def=dg.in_process_executor,
    tags={"dagster/retry_strategy": "ALL_STEPS"},  # a stage without work takes a tenth of a second
    description="Bring one collection up to date: list, crawl, transcribe, parse, chunk, embed, publish, check.",
)

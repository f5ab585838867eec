"""The stage `documents`: parse files, crawled pages and transcripts into documents; see `update`."""

from sourcebook.stages.documents.update import update_documents

__all__ = ["update_documents"]

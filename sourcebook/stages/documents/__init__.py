"""The stage `documents`."""

from sourcebook.stages.documents.update import update_documents

__all__ = ["update_documents"]

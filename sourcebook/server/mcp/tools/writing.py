"""The tools that add and remove: documents, folders, web sites. Each answers with the job that does the work."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel, Field

from sourcebook.config.sites import site_location
from sourcebook.errors import ConflictError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.model.upload_names import upload_name, upload_tags
from sourcebook.server.mcp.arguments import (
    CrawlArguments,
    IngestArguments,
    NewDocument,
    RemoveSourceArguments,
)
from sourcebook.server.mcp.tools.jobs import Job, as_job
from sourcebook.server.visibility import seen_collections

_MOST_PAGES = 100
"""Pages of a new site, unless the caller says."""


class StoredDocument(BaseModel):
    """A document that was stored, and is searchable when the job has ended."""

    name: str
    uri: str
    version: int


class IngestJob(Job):
    """The job of an ingest."""

    documents: list[StoredDocument] | None = Field(default=None, description="The documents that were sent.")


def ingest_documents(knowledge: KnowledgeBase, grant: Grant, asked: IngestArguments) -> IngestJob:
    """Store documents, or add a folder to a collection, and ask for them to be taken in; without either, for all.

    Raises:
        NotFoundError: the collection does not exist for the caller.
        QueryError: a name, a tag or the folder is not allowed.
        ConflictError: `sourcebook.yaml` declares the collection, and not the folder.
    """
    seen_collections(knowledge, grant, [asked.collection])
    stored = None
    kinds: list[str] = []
    if asked.documents is not None:
        stored = _store(knowledge, grant, asked.collection, asked.documents)
        kinds = ["uploads"]
    elif asked.folder is not None:
        _add(knowledge, grant, asked.collection, "files", {"root": asked.folder}, asked.folder)
        kinds = ["files"]
    request = knowledge.request_work(
        asked.collection, documents=[each.uri for each in stored or ()], kinds=kinds, actor=grant.actor
    )
    return IngestJob(**as_job(request).model_dump(), documents=stored)


class CrawlJob(Job):
    """The job of a crawl."""

    changed: str | None = Field(default=None, description="What changed of a site that was known.")


def crawl_website(knowledge: KnowledgeBase, grant: Grant, asked: CrawlArguments) -> CrawlJob:
    """Add a site to a collection, or change the one that it has, and ask for what is due of its sites to be crawled.

    Raises:
        NotFoundError: the collection does not exist for the caller.
        QueryError: the address is not allowed.
        ConflictError: `sourcebook.yaml` declares the collection, and not the site, or with other settings.
    """
    seen_collections(knowledge, grant, [asked.collection])
    sites = knowledge.collection_settings(asked.collection).settings.get("sites") or []
    known = next((site for site in sites if site_location(site["url"]) == site_location(asked.url)), None)
    changed = None
    if known is None:
        site = {"url": asked.url, "max_pages": asked.max_pages or _MOST_PAGES}
        knowledge.add_source(asked.collection, "site", site, actor=grant.actor)
    elif asked.max_pages not in {None, known.get("max_pages")}:
        changed = f"max_pages: {known.get('max_pages', 'the default')} → {asked.max_pages}"
        now = [{**site, "max_pages": asked.max_pages} if site is known else site for site in sites]
        knowledge.change_collection(asked.collection, {"sites": now}, actor=grant.actor)
    request = knowledge.request_work(asked.collection, kinds=["site"], actor=grant.actor)
    return CrawlJob(**as_job(request).model_dump(), changed=changed)


def remove_source(knowledge: KnowledgeBase, grant: Grant, asked: RemoveSourceArguments) -> Job:
    """Remove a source from a collection, and ask for its documents to be removed.

    Raises:
        NotFoundError: the collection does not exist for the caller.
        QueryError: the collection has no such source.
        ConflictError: `sourcebook.yaml` declares the collection.
    """
    seen_collections(knowledge, grant, [asked.collection])
    knowledge.remove_source(asked.collection, asked.location, actor=grant.actor)
    return as_job(knowledge.request_work(asked.collection, actor=grant.actor))


def _store(
    knowledge: KnowledgeBase, grant: Grant, collection: str, documents: list[NewDocument]
) -> list[StoredDocument]:
    """Store documents as uploads; where a name or a tag is not allowed, none of them."""
    names = [_file_name(each.name) for each in documents]
    for name, each in zip(names, documents, strict=True):
        upload_name(name), upload_tags(each.tags)
    stored = []
    for name, each in zip(names, documents, strict=True):
        uploaded = knowledge.upload(collection, name, each.text.encode(), tags=each.tags, actor=grant.actor)
        stored.append(StoredDocument(name=uploaded.name, uri=uploaded.uri, version=uploaded.version))
    return stored


def _file_name(name: str) -> str:
    """Return a name that says the format: Markdown, where it says none."""
    return name if PurePosixPath(name).suffix or name.endswith("/") else f"{name}.md"


def _add(
    knowledge: KnowledgeBase, grant: Grant, collection: str, kind: str, source: Mapping[str, Any], location: str
) -> None:
    """Add a source to a collection that does not have it."""
    try:
        knowledge.add_source(collection, kind, source, actor=grant.actor)
    except ConflictError:
        (status,) = knowledge.sources([collection])
        if not any(each.location.rstrip("/") == location.rstrip("/") for each in status.sources):
            raise

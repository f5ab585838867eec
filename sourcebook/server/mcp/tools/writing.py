"""The tools that add and remove: documents, folders, web sites. Each answers with the job that does the work."""

from contextlib import ExitStack
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, Field

from sourcebook.admin.additions import is_repository, is_site
from sourcebook.admin.uploads import NewUpload, upload_readers
from sourcebook.config.api_collection import is_public_name
from sourcebook.errors import ConflictError, QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.model.upload_names import upload_name, upload_tags
from sourcebook.operations.documents import title_file
from sourcebook.operations.overviews import collection_names, collections_of_the_api
from sourcebook.operations.uploads import add_uploads, upload_store
from sourcebook.operations.work import crawl_again
from sourcebook.server.mcp.tools.jobs import Job, as_job
from sourcebook.server.mcp.tools.sources import DEFAULT, local_root, location_of, put_source, ready_collection
from sourcebook.server.mcp.writing_arguments import (
    CrawlArguments,
    IngestArguments,
    RemoveSourceArguments,
)
from sourcebook.server.visibility import seen_collections, shown_sources

_MOST_PAGES = 100
"""Pages of a new site, unless the caller says."""
_PRIVATE = ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")
"""Networks that the name of a host of this machine or its network may lead to, where that is allowed."""


class StoredDocument(BaseModel):
    """A document that was stored, and is searchable when the job has ended."""

    document: int | None = Field(default=None, description="Its id, for fetch_document.")
    name: str
    uri: str
    version: int


def take_folders(knowledge: KnowledgeBase, grant: Grant, folders: list[str]) -> None:
    """Let the collection `default` have folders, and ask for what is new in them.

    A knowledge base of other collections alone is somebody's who knows where a folder belongs: nothing is added to it.

    Raises:
        SourcebookError: see `ingest_documents`.
    """
    if DEFAULT in collections_of_the_api(knowledge) or not collection_names(knowledge):
        ingest_documents(knowledge, grant, IngestArguments(paths=folders, collection=DEFAULT))


class ChangingJob(Job):
    """A job for which sources were added or changed."""

    changed: str | None = Field(default=None, description="What changed of a source that was known.")


class IngestJob(ChangingJob):
    """The job of an ingest."""

    documents: list[StoredDocument] | None = Field(default=None, description="The documents that were sent.")


def ingest_documents(knowledge: KnowledgeBase, grant: Grant, asked: IngestArguments) -> IngestJob:
    """Store documents, or add folders, files and URLs to a collection, and ask for them to be taken in; else for all.

    Raises:
        NotFoundError: the collection does not exist for the caller, who may not make it.
        QueryError: a name, a tag or a path is not allowed.
        ConflictError: `sourcebook.yaml` declares the collection, and not the source.
    """
    name = ready_collection(knowledge, grant, asked.collection)
    stored, changes, locations = None, [], []
    if asked.transcription_language is not None:
        changes.append(_set_language(knowledge, grant, name, asked.transcription_language))
    if asked.documents is not None:
        stored = _store(knowledge, grant, name, asked)
    for place in asked.places:
        kind, source = _source_of(knowledge, place, asked)
        if asked.title is not None and kind != "files":
            raise QueryError("title: pages and repositories have titles of their own; it is for a file")
        if kind == "site" and _is_crawled(knowledge, name, place):
            source = {each: source[each] for each in ("url", "tags") if each in source}
        changes.append(put_source(knowledge, grant, name, kind, source))
        if asked.title is not None:
            title_file(knowledge, name, source["root"], asked.title)
        locations.append(_known_location(knowledge, name, location_of(kind, source.get("root") or source["url"])))
    request = knowledge.request_work(
        name,
        documents=[each.uri for each in stored or ()],
        sources=[each for each in locations if each is not None] if None not in locations else [],
        kinds=["uploads"] if stored else [],
        actor=grant.actor,
    )
    changed = "; ".join(filter(None, changes)) or None
    return IngestJob(**as_job(request, knowledge).model_dump(), changed=changed, documents=stored)


def crawl_website(knowledge: KnowledgeBase, grant: Grant, asked: CrawlArguments) -> ChangingJob:
    """Add a site to a collection, or change the one that it has, and ask for it to be crawled now.

    Raises:
        NotFoundError: the collection does not exist for the caller, who may not make it.
        QueryError: the address or a setting is not allowed.
        ConflictError: `sourcebook.yaml` declares the collection, and not the site, or with other settings.
    """
    name = ready_collection(knowledge, grant, asked.collection)
    location = location_of("site", asked.url)
    is_known = _is_crawled(knowledge, name, asked.url)
    settings = asked.settings if is_known else {"max_pages": _MOST_PAGES, **asked.settings}
    if not is_known and knowledge.private_hosts and not is_public_name(urlsplit(asked.url).hostname or ""):
        settings = {"request": {"private_networks": list(_PRIVATE)}, **settings}
    changed = put_source(knowledge, grant, name, "site", {"url": asked.url, **settings})
    request = knowledge.request_work(name, sources=[location], actor=grant.actor)
    return ChangingJob(**as_job(request, knowledge).model_dump(), changed=changed or None)


def remove_source(knowledge: KnowledgeBase, grant: Grant, asked: RemoveSourceArguments) -> Job:
    """Remove a source from a collection, and ask for its documents to be removed.

    Raises:
        NotFoundError: the collection does not exist for the caller.
        QueryError: no collection has such a source, or several have it.
        ConflictError: `sourcebook.yaml` declares the collection.
    """
    wanted = {asked.location, *(location_of(kind, asked.location) for kind in ("files", "site"))}
    names = seen_collections(knowledge, grant, None if asked.collection is None else [asked.collection])
    having = [
        (each.name, source.location)
        for each in knowledge.sources(names)
        for source in shown_sources(grant, each.sources)
        if source.location in wanted or source.location.rstrip("/") in wanted
    ]
    if len(having) > 1:
        raise QueryError(f"several collections have it: name one of {', '.join(name for name, _ in having)}")
    if not having and asked.collection is None:
        raise QueryError("no collection has such a source: list_sources shows the locations")
    name, location = having[0] if having else (str(asked.collection), asked.location)
    try:
        knowledge.remove_source(name, location, actor=grant.actor)
    except ConflictError as error:
        raise ConflictError(f"{error}; remove_document takes single documents out") from None
    return as_job(knowledge.request_work(name, actor=grant.actor), knowledge)


def _is_crawled(knowledge: KnowledgeBase, collection: str, url: str) -> bool:
    """Return whether a collection has a site, which is then due at the next ingest."""
    location = _known_location(knowledge, collection, location_of("site", url))
    if location is not None:
        crawl_again(knowledge, collection, location)
    return location is not None


def _known_location(knowledge: KnowledgeBase, collection: str, location: str) -> str | None:
    """Return the location of the source that a collection has at a place; None where there is none."""
    (status,) = knowledge.sources([collection])
    return next((each.location for each in status.sources if each.location.rstrip("/") == location.rstrip("/")), None)


def _source_of(knowledge: KnowledgeBase, place: str, asked: IngestArguments) -> tuple[str, dict[str, Any]]:
    """Return kind and settings of the source at a place: a repository, a page alone, a folder or a file."""
    tags = {"tags": asked.tags} if asked.tags else {}
    if is_repository(place):
        return "repository", {"url": place.removeprefix("git+"), **tags}
    if is_site(place):
        return "site", {"url": place, "follow_links": False, "max_pages": _MOST_PAGES, **tags}
    patterns = asked.file_patterns or ([] if asked.recursive else ["*"])
    if asked.recursive:
        patterns = [each if "/" in each else f"**/{each}" for each in patterns]
    return "files", {"root": local_root(knowledge, place), **({"include": patterns} if patterns else {}), **tags}


def _set_language(knowledge: KnowledgeBase, grant: Grant, collection: str, language: str) -> str:
    """Let recordings of a collection be transcribed as a language; return what changed, or ""."""
    declared = knowledge.collection_settings(collection)
    before = (declared.settings.get("speech") or {}).get("language")
    if before == language:
        return ""
    if declared.declared_in == "file":
        raise ConflictError(
            f"sourcebook.yaml declares the collection {collection}, and agents do not change that file: "
            f"set speech.language there, or name another collection"
        )
    knowledge.change_collection(collection, {"speech": {"language": language}}, actor=grant.actor)
    return f"speech.language: {before or 'the default'} → {language}"


def _store(knowledge: KnowledgeBase, grant: Grant, collection: str, asked: IngestArguments) -> list[StoredDocument]:
    """Store documents as uploads; where a name, a tag or a principal is not allowed, none of them."""
    sent = []
    for each in asked.documents or ():
        name, tags = _file_name(each.name), list(dict.fromkeys([*each.tags, *asked.tags]))
        upload_name(name), upload_tags(tags)
        sent.append((name, each.text, tags, each.title or asked.title))
    readers, store = upload_readers(asked.allowed), upload_store(knowledge)
    with ExitStack() as stack:
        new = []
        for name, text, tags, title in sent:
            incoming = stack.enter_context(store.begin())
            incoming.write(text.encode())
            new.append(NewUpload(name, incoming, tuple(tags), title, readers))
        uploads = add_uploads(knowledge, collection, new, actor=grant.actor, may_open=grant.allows("admin"))
    return [
        StoredDocument(document=each.document_id, name=each.name, uri=each.uri, version=each.version)
        for each in uploads
    ]


def _file_name(name: str) -> str:
    """Return a name that says the format: Markdown, where it says none."""
    return name if PurePosixPath(name).suffix or name.endswith("/") else f"{name}.md"

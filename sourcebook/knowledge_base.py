"""The public Python interface, as a table of contents: what an operation does stands in its function."""

from sourcebook.operations import answers, contents, reports, searching
from sourcebook.operations import collections as declarations
from sourcebook.operations import documents as single_documents
from sourcebook.operations import uploads as sent_files
from sourcebook.operations import work as work_requested
from sourcebook.operations.opened import Opened


class KnowledgeBase(Opened):
    """A searchable knowledge base. Thread-safe; holds a pool of connections and, after the first search, the models.

    Where an operation takes `actor`, that is the name in the audit, the account of this process by default.

    Example:
        >>> with KnowledgeBase.connect() as knowledge:  # doctest: +SKIP
        ...     for hit in knowledge.search("How long do the batteries last?"):
        ...         print(hit.title, hit.page, hit.text)
    """

    search = searching.search
    similar = searching.similar
    context = searching.context
    embed = searching.embed
    prewarm = searching.prewarm
    forget_queries = searching.forget_queries

    ask = answers.ask
    ask_stream = answers.ask_stream
    tool_schemas = answers.tool_schemas
    llm_calls = answers.llm_calls
    llm_statistics = answers.llm_statistics
    forget_llm_calls = answers.forget_llm_calls

    collections = contents.collections
    sources = contents.sources
    statistics = contents.statistics
    documents = contents.documents
    show = contents.show
    status = contents.status
    plan = contents.plan
    generations = contents.generations

    judge = reports.judge
    judgments = reports.judgments
    queries = reports.queries
    forget_logged_queries = reports.forget_logged_queries
    usage = reports.usage

    remove_document = single_documents.remove_document
    restore_document = single_documents.restore_document
    change_document = single_documents.change_document
    related = single_documents.related
    original = single_documents.original
    page_image = single_documents.page_image

    upload = sent_files.upload
    uploads = sent_files.uploads
    upload_versions = sent_files.upload_versions
    remove_upload = sent_files.remove_upload

    collection_settings = declarations.collection_settings
    create_collection = declarations.create_collection
    change_collection = declarations.change_collection
    delete_collection = declarations.delete_collection
    add_source = declarations.add_source
    remove_source = declarations.remove_source

    request_work = work_requested.request_work
    work = work_requested.work
    work_requests = work_requested.work_requests
    cancel_work = work_requested.cancel_work

"""The pages as part of an app."""

from fastapi import FastAPI

from sourcebook.server.page import (
    collection_changes,
    collections,
    document,
    document_changes,
    document_files,
    documents,
    keys,
    search,
    sign_in,
    uploads,
    usage,
    work,
)
from sourcebook.server.page.errors import add_page_errors
from sourcebook.server.page.rendering import STATIC, KeptFiles
from sourcebook.server.page.security_headers import SecurityHeaders

_PAGES = (
    search,
    document_files,
    document_changes,
    document,
    documents,
    uploads,
    collection_changes,
    collections,
    work,
    usage,
    keys,
    sign_in,
)


def add_page(app: FastAPI) -> None:
    """Add the pages to an app that has its other routes and its answers to errors."""
    for module in _PAGES:
        app.include_router(module.router)
    app.mount("/static", KeptFiles(directory=STATIC), name="static")
    app.add_middleware(SecurityHeaders)
    add_page_errors(app)

"""The pages as part of an app."""

from fastapi import FastAPI

from sourcebook.server.page import (
    collections,
    document,
    document_changes,
    document_files,
    documents,
    keys,
    search,
    sign_in,
    usage,
    work,
)
from sourcebook.server.page.errors import add_page_errors
from sourcebook.server.page.rendering import STATIC, KeptFiles
from sourcebook.server.page.security_headers import SecurityHeaders


def add_page(app: FastAPI) -> None:
    """Add the pages to an app that has its other routes and its answers to errors."""
    for module in (
        search,
        document_files,
        document_changes,
        document,
        documents,
        collections,
        work,
        usage,
        keys,
        sign_in,
    ):
        app.include_router(module.router)
    app.mount("/static", KeptFiles(directory=STATIC), name="static")
    app.add_middleware(SecurityHeaders)
    add_page_errors(app)

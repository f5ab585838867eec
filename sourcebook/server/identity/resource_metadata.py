"""Metadata of this server as an OAuth resource (RFC 9728): agents learn there whose tokens it takes.

`/mcp` follows the authorization of the Model Context Protocol: who sends no token is told this document's address.
"""

from typing import Any, Final
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from sourcebook.server.identity.token_settings import TokenSettings

router = APIRouter(include_in_schema=False)
_WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"


@router.get(_WELL_KNOWN + "{path:path}")
async def resource_metadata(path: str, request: Request) -> Response:
    """Return the metadata, at the address of the resource and at that of the whole server."""
    settings: TokenSettings | None = request.app.state.token_settings
    if settings is None or settings.resource is None or path not in ("", urlsplit(settings.resource).path):
        raise HTTPException(404)
    return JSONResponse(_metadata(settings), headers={"Access-Control-Allow-Origin": "*"})


def metadata_url(settings: TokenSettings | None) -> str | None:
    """Return the address of the metadata (RFC 9728, 3.1); None where the settings name no resource."""
    if settings is None or settings.resource is None:
        return None
    parts = urlsplit(settings.resource)
    return f"{parts.scheme}://{parts.netloc}{_WELL_KNOWN}{parts.path}"


def _metadata(settings: TokenSettings) -> dict[str, Any]:
    return {
        "resource": settings.resource,
        "authorization_servers": [settings.issuer],
        "bearer_methods_supported": ["header"],
        "resource_name": "Sourcebook",
    }

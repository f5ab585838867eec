"""Agents by OAuth: the SDK's own client signs in at an authorization server, from the first refusal to the answer of a tool."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.auth.oauth2 import AuthorizationCodeResult
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from tests.acceptance.processes import free_port
from tests.integration.http_server import serving
from tests.integration.stages import Stages
from tests.login_provider import LoginProvider, providing
from tests.token_issuer import rsa_key

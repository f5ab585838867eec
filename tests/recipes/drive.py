"""The API v3 of Google Drive: files and folders, the log of changes behind page tokens, downloads and exports."""

import json
import os
import re
from typing import Any, Self

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.recipes.drives import ROOT, DriveService, Node
from tests.recipes.service import Answer, Request, page_of

_GOOGLE = "application/vnd.google-apps."
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_LIFE = 25
"""Requests for which an access token is valid."""


class Drive(DriveService):
    """A service account with a folder; files come by the time of their last change, and Word files are Google's own."""

    recipe = "drive"
    environment = {"DRIVE_KEY": "set by __enter__"}  # noqa: RUF012
    locks = True

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.tokens = 0
        self.left = 0
        """Requests that the last access token may still make."""

    def __enter__(self) -> Self:
        super().__enter__()
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        account = {"client_email": "desk@example.iam.gserviceaccount.com", "private_key": pem.decode()}
        os.environ["DRIVE_KEY"] = json.dumps({**account, "token_uri": f"{self.url}/token", "type": "service_account"})
        return self

    def settings(self, text: str) -> str:
        url = f'key: "${{DRIVE_KEY}}", url: "{self.url}/drive/v3/"'
        return text.replace('key: "${DRIVE_KEY}"', url).replace("1AbCdEfGhIjKlMnOpQrStUvWxYz", ROOT)

    def admits(self, request: Request) -> bool:
        if request.path == "/token":
            return True
        self.left -= 1
        return self.left >= 0 and request.headers.get("authorization") == f"Bearer {self.token}-{self.tokens}"

    def busy(self) -> Answer:
        if self.random.random() < 0.5:
            return _error(403, "userRateLimitExceeded")
        return Answer(_error(429, "rateLimitExceeded").body, 429, {"Retry-After": "1"})

    def refused_to(self, request: Request) -> Answer:
        if request.path == "/token":
            return Answer({"error": "invalid_grant", "error_description": "Invalid grant: account not found"}, 400)
        return _error(401, "authError")

    def answer(self, request: Request) -> Answer:
        if request.path == "/token":
            self.tokens, self.left = self.tokens + 1, _LIFE
            return Answer({"access_token": f"{self.token}-{self.tokens}", "expires_in": 3599, "token_type": "Bearer"})
        path, query = request.path.removeprefix("/drive/v3/"), request.query
        if path == "changes/startPageToken":
            return Answer({"startPageToken": str(len(self.log))})
        if path == "changes":
            return self._changes(query)
        if path == "files":
            return self._files(query)
        found = re.fullmatch(r"files/(\w+)(/export)?", path)
        node = self.nodes.get(found[1]) if found else None
        if found is None or node is None:
            return _error(404, "notFound")
        if not found[2] and query.get("alt") != "media":
            return Answer(self._file(node, query["fields"]))
        is_own = node.name.endswith(".docx")
        if is_own != bool(found[2]) or node.is_locked or query.get("mimeType", _WORD) != _WORD:
            return _error(403, "exportSizeLimitExceeded" if found[2] and node.is_locked else "fileNotDownloadable")
        return Answer(node.content, is_file=True, media_type="application/octet-stream")

    def _changes(self, query: Any) -> Answer:
        place = int(query["pageToken"])
        if place < self.oldest:
            return _error(400, "invalid")
        changes = self.changes_after(place)
        shown = [self._change_of(key, query["fields"]) for _, key in changes[:3]]
        if len(changes) > 3:
            return Answer({"changes": shown, "nextPageToken": str(changes[2][0])})
        return Answer({"changes": shown, "newStartPageToken": str(len(self.log))})

    def _change_of(self, key: str, fields: str) -> dict[str, Any]:
        if key not in self.nodes:
            return {"fileId": key, "removed": True}
        return {"fileId": key, "removed": False, "file": self._file(self.nodes[key], fields)}

    def _files(self, query: Any) -> Answer:
        shown = [each for each in self.nodes.values() if each.parent]
        latest = {each.id: f"{9e9 - each.modified.timestamp():020.3f} {each.id}" for each in shown}
        page, last = page_of(shown, query.get("pageToken"), 3, lambda each: latest[each.id])
        following = {"nextPageToken": last} if last else {}
        return Answer({"files": [self._file(each, query["fields"]) for each in page], **following})

    def _file(self, node: Node, fields: str) -> dict[str, Any]:
        """Return the fields of a file that were asked for."""
        is_own = node.name.endswith(".docx")
        kind = f"{_GOOGLE}{'document' if node.text else 'folder'}" if is_own or not node.text else "text/plain"
        file = {
            "id": node.id,
            "name": node.name.removesuffix(".docx"),
            "mimeType": kind,
            "parents": [node.parent],
            "trashed": self.is_in_trash(node),
            "explicitlyTrashed": node.is_trashed,
            "version": str(node.version),
            "modifiedTime": node.modified.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "webViewLink": f"https://drive.google.com/file/d/{node.id}/view",
            "capabilities": {"canDownload": not node.is_locked or self.numbers % 2 == 0},
            **({} if kind.startswith(_GOOGLE) else {"size": str(len(node.content))}),
        }
        return {name: value for name, value in file.items() if re.search(rf"\b{name}\b", fields)}


def _error(status: int, reason: str) -> Answer:
    detail = {"domain": "global", "reason": reason, "message": reason}
    return Answer({"error": {"code": status, "message": reason, "errors": [detail]}}, status)

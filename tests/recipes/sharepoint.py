"""Microsoft Graph v1.0: a drive's items, its delta behind links, which may be gone, and downloads elsewhere."""

import re
from typing import Any
from urllib.parse import quote

from tests.recipes.drives import ROOT, DriveService, Node
from tests.recipes.service import Answer, Request

_DRIVE = "/v1.0/sites/example.sharepoint.com:/sites/ops:/drive/"
_TOP = "top"


class Sharepoint(DriveService):
    """A library with a folder; an item may come twice in a delta, and a link is gone now and then."""

    recipe = "sharepoint"
    environment = {"GRAPH_SECRET": "secret-token"}  # noqa: RUF012
    tells_restored = True
    locks = True

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.tokens = 0
        for node in self.nodes.values():
            node.parent = _TOP
        self.nodes[_TOP] = Node(_TOP, "root", "", self.time, self.time)

    def settings(self, text: str) -> str:
        return text.replace(
            'secret: "${GRAPH_SECRET}"',
            f'secret: "${{GRAPH_SECRET}}"\n            login: {self.url}\n            graph: {self.url}',
        )

    def admits(self, request: Request) -> bool:
        if request.path.endswith("/oauth2/v2.0/token"):
            return bool(request.body.get("client_secret") == [self.token])
        if request.path.startswith("/download/"):
            return "authorization" not in request.headers  # its address is the ticket
        return request.headers.get("authorization") == f"Bearer {self.token}-{self.tokens}"

    def busy(self) -> Answer:
        return _error(429, "activityLimitReached", {"Retry-After": "1"})

    def refused_to(self, request: Request) -> Answer:
        if request.path.endswith("/token"):
            return Answer({"error": "invalid_client", "error_description": "AADSTS7000222: it has expired."}, 401)
        return _error(401, "InvalidAuthenticationToken")

    def answer(self, request: Request) -> Answer:
        if request.path.endswith("/oauth2/v2.0/token"):
            self.tokens += 1
            life = self.random.choice((0, 3_599))
            return Answer({"token_type": "Bearer", "expires_in": life, "access_token": f"{self.token}-{self.tokens}"})
        if request.path.startswith("/download/"):
            node = self.nodes.get(request.path.rpartition("/")[2])
            return (
                Answer(node.content, is_file=True, media_type="application/octet-stream")
                if node
                else _error(404, "itemNotFound")
            )
        path = request.path.removeprefix(_DRIVE)
        if path == "root/delta":
            return self._delta(request.query.get("token"))
        if path == "root:/Handbook":
            return Answer(self._item(self.nodes[ROOT]))
        found = re.fullmatch(r"items/(\w+)(/content)?", path)
        node = self.nodes.get(found[1]) if found else None
        if found is None or node is None or self.is_in_trash(node):
            return _error(404, "itemNotFound")
        if found[2]:
            if node.is_locked:
                return _error(403, "accessDenied")
            place = self.url.replace("127.0.0.1", "localhost")
            return Answer("", 302, {"Location": f"{place}/download/{node.id}"})
        return Answer(self._item(node))

    def _delta(self, token: str | None) -> Answer:
        """Answer with a page of all items, or of changes: a token has the last item, and the place in the log."""
        last, _, told = (token or "").partition("~")
        place = int(told or len(self.log))
        if place < self.oldest:
            return _error(410, "resyncRequired", {"Location": self._link("")})
        if token and not last:
            changes = self.changes_after(place)
            items = [self._changed(key) for _, key in changes[:3]]
            if len(changes) > 3:
                return self._page(items, "nextLink", f"~{changes[2][0]}")
            return self._page(items + items[:1], "deltaLink", f"~{len(self.log)}")
        keys = sorted(key for key, node in self.nodes.items() if key > last and not self.is_in_trash(node))
        items = [self._item(self.nodes[key]) for key in keys[:3]]
        return self._page(items, "nextLink", f"{keys[2] if len(keys) > 3 else ''}~{place}")

    def _page(self, items: list[dict[str, Any]], kind: str, token: str) -> Answer:
        return Answer({"value": items, f"@odata.{kind}": self._link(token)})

    def _link(self, token: str) -> str:
        return f"{self.url}{_DRIVE}root/delta?token={quote(token)}"

    def _changed(self, key: str) -> dict[str, Any]:
        node = self.nodes.get(key)
        if node is None or self.is_in_trash(node):
            return {"id": key, "deleted": {"state": "deleted"}}
        return self._item(node)

    def _item(self, node: Node) -> dict[str, Any]:
        modified = node.modified.strftime("%Y-%m-%dT%H:%M:%SZ")
        kind: dict[str, Any] = {"file": {}} if node.text else {"folder": {}}
        is_large = node.is_locked and self.numbers % 2 > 0
        if node.is_locked and not is_large:
            kind["malware"] = {}
        return {
            "id": node.id,
            "name": node.name,
            "size": 10**9 if is_large else len(node.content) if node.text else 0,
            "eTag": f'"{{{node.id}}},{node.version}"',
            "lastModifiedDateTime": modified,
            "webUrl": f"https://example.sharepoint.com/sites/ops/Documents/{quote(node.name)}",
            **({"parentReference": {"id": node.parent}} if node.parent else {"root": {}}),
            **kind,
        }


def _error(status: int, code: str, headers: dict[str, str] | None = None) -> Answer:
    return Answer({"error": {"code": code, "message": code}}, status, headers or {})

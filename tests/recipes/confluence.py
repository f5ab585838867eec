"""The REST API v2 of Confluence Cloud: pages and nested comments behind cursors in links."""

import re
from base64 import b64encode
from collections.abc import Callable
from typing import Any

from tests.recipes.service import Answer, Request, page_of
from tests.recipes.threads import Post, Thread, ThreadService

_LOGIN = "Basic " + b64encode(b"desk@example.com:secret-token").decode()


class Confluence(ThreadService):
    """Pages; comments leave the page's version as it is, and who has no valid token lists nothing."""

    recipe = "confluence"
    environment = {"CONFLUENCE_TOKEN": "secret-token"}  # noqa: RUF012
    told = frozenset({"add", "edit", "delete"})
    follows_clock = False

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.versions: dict[str, tuple[str, int]] = {}

    def settings(self, text: str) -> str:
        return text.replace("https://example.atlassian.net", self.url)

    def admits(self, request: Request) -> bool:
        return request.headers.get("authorization") == _LOGIN

    def refused_to(self, request: Request) -> Answer:
        if request.path.endswith("/user/current"):
            return Answer({"type": "anonymous"})
        return Answer({"results": []}) if request.path.endswith("/pages") else self.refused()

    def answer(self, request: Request) -> Answer:
        path = request.path.removeprefix("/wiki/")
        if path == "rest/api/user/current":
            return Answer({"type": "known"})
        if path == "api/v2/spaces":
            return Answer({"results": [{"id": "77", "key": request.query["keys"]}]})
        if path == "api/v2/pages":
            if request.query.get("body-format") is not None or request.query["space-id"] != "77":
                return Answer({"errors": [{"status": 400}]}, 400)
            return self._page(request, [*self.threads.values()], lambda each: self._listed(each, {}))
        if found := re.fullmatch(r"api/v2/pages/(\d+)(/footer-comments)?", path):
            thread = self.threads.get(found[1])
            if thread is None:
                return Answer({"errors": [{"status": 404}]}, 404)
            if found[2]:
                return self._page(request, thread.replies, _comment)
            return Answer(self._listed(thread, {"view": {"value": _html(thread)}}))
        if found := re.fullmatch(r"api/v2/footer-comments/(\w+)/children", path):
            posts = [post for thread in self.threads.values() for post in thread.replies if post.id == found[1]]
            return self._page(request, posts[0].replies if posts else [], _comment)
        return Answer({"errors": [{"status": 404}]}, 404)

    def _page(self, request: Request, posts: list[Any], shown: Callable[[Any], dict[str, Any]]) -> Answer:
        page, last = page_of(posts, request.query.get("cursor"), 3, _rank)
        link = {"next": f"{request.path}?limit=3&body-format=storage&cursor={last}"} if last else {}
        if request.path.endswith("/pages") and last:
            link = {"next": f"{request.path}?space-id=77&limit=3&cursor={last}"}
        return Answer({"results": [shown(each) for each in page], "_links": link})

    def _listed(self, thread: Thread, body: dict[str, Any]) -> dict[str, Any]:
        text, number = self.versions.get(thread.id, ("", 0))
        if text != thread.text:
            number += 1
            self.versions[thread.id] = thread.text, number
        version = {"number": number, "createdAt": thread.updated.isoformat()}
        link = {"webui": f"/spaces/HR/pages/{thread.id}"}
        return {"id": thread.id, "title": thread.title, "version": version, "body": body, "_links": link}


def _rank(post: Post) -> str:
    return f"{int(post.id.removeprefix('post')):09}"


def _comment(post: Post) -> dict[str, Any]:
    return {"id": post.id, "body": {"storage": {"value": _html(post)}}}


def _html(post: Post) -> str:
    return f"<p>It slips, says <b>{post.text}</b>.</p>"

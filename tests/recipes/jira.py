"""The REST API v3 of Jira Cloud: search by JQL behind page tokens, comments by offset."""

import re
from base64 import b64encode
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from tests.recipes.service import Answer, Request, page_of
from tests.recipes.threads import Post, Thread, ThreadService

_ZONE = ZoneInfo("America/St_Johns")
_LOGIN = "Basic " + b64encode(b"desk@example.com:secret-token").decode()


class Jira(ThreadService):
    """Issues; who has no valid token searches as everybody, and finds nothing."""

    recipe = "jira"
    environment = {"JIRA_TOKEN": "secret-token"}  # noqa: RUF012
    depth = 1

    def settings(self, text: str) -> str:
        return text.replace("https://example.atlassian.net", self.url)

    def admits(self, request: Request) -> bool:
        return request.headers.get("authorization") == _LOGIN

    def refused_to(self, request: Request) -> Answer:
        if request.path.endswith("/search/jql"):
            return Answer({"issues": [], "isLast": True})
        return self.refused()

    def answer(self, request: Request) -> Answer:
        if request.path == "/rest/api/3/myself":
            return Answer({"accountId": "1", "displayName": "Desk", "timeZone": _ZONE.key})
        if found := re.fullmatch(r"/rest/api/3/issue/(\d+)/comment", request.path):
            comments = self.threads[found[1]].replies if found[1] in self.threads else []
            start = int(request.query["startAt"])
            shown = [{**_comment(each), "renderedBody": _html(each)} for each in comments[start : start + 3]]
            return Answer({"comments": shown, "total": len(comments), "startAt": start, "maxResults": 3})
        if request.path != "/rest/api/3/search/jql":
            return Answer({"errorMessages": ["no such resource"]}, 404)
        since = re.search(r'updated >= "([^"]+)"', request.query["jql"])
        first = datetime.strptime(since[1], "%Y-%m-%d %H:%M").replace(tzinfo=_ZONE) if since else None
        threads = [each for each in self.threads.values() if first is None or each.updated >= first]
        page, last = page_of(threads, request.query.get("nextPageToken"), 3, lambda each: f"{int(each.id):09}")
        token = {"nextPageToken": last} if last else {}
        return Answer({"issues": [_issue(each) for each in page], "isLast": last is None, **token})


def _issue(thread: Thread) -> dict[str, Any]:
    few = thread.replies[:2]
    comments = {"comments": [_comment(each) for each in few], "total": len(thread.replies)}
    fields = {
        "summary": thread.title,
        "status": {"name": "Open"},
        "issuetype": {"name": "Bug"},
        "assignee": None,
        "labels": ["winch"],
        "updated": thread.updated.strftime("%Y-%m-%dT%H:%M:%S.000+0000"),
        "comment": comments,
        "attachment": [{"filename": "plan.pdf", "content": "https://example.atlassian.net/attachment/1"}],
    }
    rendered = {"description": _html(thread), "comment": {"comments": [{"body": _html(each)} for each in few]}}
    return {"id": thread.id, "key": f"OPS-{thread.id}", "fields": fields, "renderedFields": rendered}


def _comment(post: Post) -> dict[str, Any]:
    return {"id": post.id, "author": {"displayName": post.author}}


def _html(post: Post) -> str:
    return f"<p>It slips, says <b>{post.text}</b>.</p>"

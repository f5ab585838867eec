"""The GraphQL API of GitHub, as far as threads with their comments need it, with pages of three nodes."""

import re
from typing import Any

from tests.recipes.service import Answer, Request, page_of
from tests.recipes.threads import Post, Thread, ThreadService

_PAGE = 3


class GitHub(ThreadService):
    """Issues and discussions; an edit or a deletion of a comment leaves `updatedAt` as it is."""

    recipe = "github"
    environment = {"GITHUB_TOKEN": "secret-token"}  # noqa: RUF012
    kinds = ("issues", "discussions")

    def settings(self, text: str) -> str:
        return text.replace('token: "${GITHUB_TOKEN}"', f'token: "${{GITHUB_TOKEN}}", url: "{self.url}/api/v3"')

    def answer(self, request: Request) -> Answer:
        query, variables = request.body["query"], request.body["variables"]
        if request.path != "/api/graphql":
            return Answer({"message": "Not Found"}, 404)
        if "node(id:" in query:
            field = "replies" if "{ replies(" in query else "comments"
            return Answer({"data": {"node": {field: self._posts(self._post_of(variables["id"]), variables["after"])}}})
        kind, field, direction = re.findall(
            r"(\w+)\(first: 50, after: \$after, orderBy: \{field: (\w+), direction: (\w+)", query
        )[0]
        threads = [each for each in self.threads.values() if each.kind == kind]
        ranks = {
            each.id: f"{(each.created if field == 'CREATED_AT' else each.updated).timestamp():015.0f} {each.id:>9}"
            for each in threads
        }
        if direction == "DESC":
            ranks = {name: "".join(chr(158 - ord(sign)) for sign in rank) for name, rank in ranks.items()}
        page, last = page_of(threads, variables["after"], _PAGE, lambda each: ranks[each.id])
        nodes = [self._thread(each) for each in page]
        found = {"nodes": nodes, "pageInfo": {"hasNextPage": last is not None, "endCursor": last}}
        return Answer({"data": {"repository": {kind: found}}})

    def _thread(self, thread: Thread) -> dict[str, Any]:
        return {
            **self._post_node(thread),
            "number": int(thread.id),
            "title": thread.title,
            "url": f"https://github.com/example/tide-gauge/{thread.kind}/{thread.id}",
            "updatedAt": thread.updated.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "closed": False,
            "labels": {"nodes": [{"name": "winch"}]},
            "comments": self._posts(thread, None),
        }

    def _posts(self, post: Post, after: str | None) -> dict[str, Any]:
        page, last = page_of(post.replies, after, _PAGE, lambda each: f"{int(each.id[4:]):09}")
        nodes = [{**self._post_node(each), "replies": self._posts(each, None)} for each in page]
        return {"nodes": nodes, "pageInfo": {"hasNextPage": last is not None, "endCursor": last}}

    def _post_node(self, post: Post) -> dict[str, Any]:
        name = f"T{post.id}" if isinstance(post, Thread) else post.id
        return {"id": name, "body": f"It slips, says {post.text}.", "author": {"login": post.author}}

    def _post_of(self, name: str) -> Post:
        for thread in self.threads.values():
            for post in (thread, *thread.replies):
                if self._post_node(post)["id"] == name:
                    return post
        return Post(name, "", "", self.now())

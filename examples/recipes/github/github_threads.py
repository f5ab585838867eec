"""Issues, pull requests and discussions of a GitHub repository with their comments, read by PyGithub."""

from datetime import UTC, datetime, timedelta
from time import time

from github import Auth, Github, GithubRetry

from sourcebook.records import Checkpoint

OVERLAP = timedelta(minutes=5)
"""What each look reads once more, as servers' clocks differ."""
PAGE = "pageInfo { hasNextPage endCursor }"
REPLIES = f"replies(first: 50, after: $after) {{ {PAGE} nodes {{ id body author {{ login }} }} }}"
COMMENT = "id body author { login }"
LISTING = """query($owner: String!, $name: String!, $after: String) { repository(owner: $owner, name: $name) {
  %(kind)s(first: 50, after: $after, orderBy: {field: %(order)s}) { pageInfo { hasNextPage endCursor } nodes {
    id number title body url updatedAt closed author { login } labels(first: 50) { nodes { name } }
    %(comments)s } } } }"""


class GithubThreads:
    """The threads of a repository.

    Args:
        repository: owner and name.
        token: a token that may read them.
        kinds: issues, pullRequests, discussions.
        url: address of the API; that of an own server ends with /api/v3.
        whole_every: hours between complete listings, which find what was deleted and comments that were edited.
    """

    def __init__(self, repository, token, kinds=("issues", "discussions"), url="https://api.github.com", whole_every=6):
        self.owner, _, self.name = repository.partition("/")
        self.kinds, self.whole_every = kinds, whole_every
        retry = GithubRetry(total=5, max_rate_limit_wait=120)
        self.github = Github(
            auth=Auth.Token(token),
            base_url=url,
            retry=retry,
            seconds_between_requests=None,
            seconds_between_writes=None,  # a query is a POST, and writes nothing
        )

    def changes(self, cursor):
        state = cursor or {"since": None, "whole": 0}
        started, newest = time(), ""
        whole = not 0 <= started - state["whole"] < self.whole_every * 3600
        for kind in self.kinds:
            for thread in self.listed(kind, whole):
                if not whole and thread["updatedAt"] < state["since"]:
                    break
                newest = max(newest, thread["updatedAt"])
                yield self.record(kind, thread)
        if newest:  # the clock that is behind counts
            latest = min(datetime.fromisoformat(newest), datetime.fromtimestamp(started, UTC)) - OVERLAP
            state["since"] = latest.strftime("%Y-%m-%dT%H:%M:%SZ")
        yield Checkpoint({**state, "whole": started if whole else state["whole"]}, complete=whole)

    def listed(self, kind, whole):
        """Yield the threads of a kind: all of them as they were made, or those that were changed last first."""
        order = "CREATED_AT, direction: ASC" if whole else "UPDATED_AT, direction: DESC"
        query = LISTING % {"kind": kind, "order": order, "comments": comments(kind).replace(", after: $after", "")}
        after = None
        while True:
            names = {"owner": self.owner, "name": self.name, "after": after}
            page = self.asked(query, names)["repository"][kind]
            yield from page["nodes"]
            if not page["pageInfo"]["hasNextPage"]:
                return
            after = page["pageInfo"]["endCursor"]

    def record(self, kind, thread):
        found = [self.comment(each) for each in self.every(thread, TYPES[kind], "comments", comments(kind))]
        labels = [label["name"] for label in thread["labels"]["nodes"]]
        return {**thread, **self.said(thread), "kind": TYPES[kind], "labels": labels, "comments": found}

    def comment(self, node):
        replies = self.every(node, "DiscussionComment", "replies", REPLIES)
        return {**self.said(node), "replies": [self.said(reply) for reply in replies]}

    def every(self, node, type_name, field, selection):
        """Return the nodes of a field; where there are more than came with its node, the others are asked for."""
        held = node.get(field) or {"nodes": [], "pageInfo": {"hasNextPage": False}}
        found = [*held["nodes"]]
        while held["pageInfo"]["hasNextPage"]:
            query = f"query($id: ID!, $after: String) {{ node(id: $id) {{ ... on {type_name} {{ {selection} }} }} }}"
            held = self.asked(query, {"id": node["id"], "after": held["pageInfo"]["endCursor"]})["node"][field]
            found += held["nodes"]
        return found

    def asked(self, query, variables):
        return self.github.requester.graphql_query(query, variables)[1]["data"]

    @staticmethod
    def said(node):
        return {"body": node["body"], "author": (node["author"] or {"login": "ghost"})["login"]}


TYPES = {"issues": "Issue", "pullRequests": "PullRequest", "discussions": "Discussion"}


def comments(kind):
    replies = REPLIES.replace(", after: $after", "") if kind == "discussions" else ""
    return f"comments(first: 50, after: $after) {{ {PAGE} nodes {{ {COMMENT} {replies} }} }}"

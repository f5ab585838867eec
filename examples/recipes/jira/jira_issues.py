"""Issues of Jira Cloud with their comments, read by atlassian-python-api."""

from math import ceil
from time import time

from atlassian.jira import JiraCloud
from requests import Session

from sourcebook.records import Checkpoint

FIELDS = ["summary", "description", "status", "issuetype", "assignee", "labels", "updated", "comment", "attachment"]
OVERLAP = 10
"""Minutes that each look reads once more, as Jira's search is some minutes behind."""


class JiraIssues:
    """The issues that a query finds.

    Args:
        url: address of the site.
        user: e-mail address of the account.
        token: its API token.
        jql: a query without ORDER BY.
        whole_every: hours between complete listings, which find what was deleted or does not match any more.
    """

    def __init__(self, url, user, token, jql, whole_every=12):
        self.url, self.jql, self.whole_every = url, jql, whole_every
        session = Session()
        session.hooks["response"].append(readable)
        self.client = JiraCloud(
            url, username=user, password=token, session=session, backoff_and_retry=True, max_backoff_retries=5
        )

    def changes(self, cursor):
        state = cursor or {"looked": 0, "whole": 0}
        started = time()
        whole = not state["whole"] <= state["looked"] <= started < state["whole"] + self.whole_every * 3600
        query = f"({self.jql})"
        if not whole:  # in minutes before now: dates in a query are in the time zone of the user
            query += f' AND updated >= "-{ceil((started - state["looked"]) / 60) + OVERLAP}m"'
        self.check_token()
        for issue in self.found(f"{query} ORDER BY created ASC"):
            yield self.record(issue)
        self.check_token()  # who has none sees what everybody may see: the listing would be short
        yield Checkpoint({"looked": started, "whole": started if whole else state["whole"]}, complete=whole)

    def check_token(self):
        self.client.get("rest/api/3/myself")

    def found(self, query):
        token = None
        while True:
            page = self.client.enhanced_jql(query, FIELDS, token, limit=100, expand="renderedFields")
            yield from page["issues"]
            token = page.get("nextPageToken")
            if not token:
                return

    def record(self, issue):
        fields, rendered = issue["fields"], issue["renderedFields"]
        return {
            "id": issue["id"],
            "title": f"{issue['key']}: {fields['summary']}",
            "description": rendered.get("description") or "",
            "comments": self.comments(issue),
            "files": [{"name": each["filename"], "url": each["content"]} for each in fields.get("attachment", [])],
            "url": f"{self.url}/browse/{issue['key']}",
            "updated": fields["updated"],
            "labels": fields["labels"],
            "status": fields["status"]["name"],
            "type": fields["issuetype"]["name"],
            "assignee": (fields["assignee"] or {}).get("displayName"),
        }

    def comments(self, issue):
        """Return the comments of an issue, which come with it where they are few."""
        came = issue["fields"]["comment"]
        if came["total"] <= len(came["comments"]):
            texts = issue["renderedFields"]["comment"]["comments"]
            return [said(each, text["body"]) for each, text in zip(came["comments"], texts, strict=True)]
        found = []
        while True:
            page = self.client.get_comments(issue["id"], len(found), 100, "created", "renderedBody")
            found += [said(each, each["renderedBody"]) for each in page["comments"]]
            if len(found) >= page["total"] or not page["comments"]:
                return found


def said(comment, body):
    return {"author": comment.get("author", {}).get("displayName", "unknown"), "body": body}


def readable(response, **_):
    """Refuse half an answer, which the library takes for the end of a listing."""
    if response.ok:
        response.json()

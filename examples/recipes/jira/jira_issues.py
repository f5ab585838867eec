"""Issues of Jira Cloud with their comments, read by atlassian-python-api."""

from datetime import datetime
from time import time
from zoneinfo import ZoneInfo

from atlassian.jira import JiraCloud
from requests import Session

from sourcebook.records import Checkpoint

FIELDS = ["summary", "description", "status", "issuetype", "assignee", "labels", "updated", "comment", "attachment"]
OVERLAP = 600
"""Seconds that each look reads once more, as Jira's search is some minutes behind."""


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
        state = cursor or {"since": 0, "whole": 0}
        started, newest = time(), 0
        whole = not 0 <= started - state["whole"] < self.whole_every * 3600
        query, user = f"({self.jql})", self.user()
        if not whole:  # a query's times are those of the user
            since = datetime.fromtimestamp(state["since"], ZoneInfo(user["timeZone"]))
            query += f' AND updated >= "{since:%Y-%m-%d %H:%M}"'
        for issue in self.found(f"{query} ORDER BY created ASC"):
            newest = max(newest, datetime.fromisoformat(issue["fields"]["updated"]).timestamp())
            yield self.record(issue)
        self.user()
        since = min(newest, started) - OVERLAP if newest else state["since"]  # the clock that is behind counts
        yield Checkpoint({"since": since, "whole": started if whole else state["whole"]}, complete=whole)

    def user(self):
        """Return who asks; Jira gives who has no valid token what everybody may see, a short listing."""
        return self.client.get("rest/api/3/myself")

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

"""Tickets of Zendesk with their comments, read by dlt's client for REST APIs."""

from time import time

from dlt.sources.helpers.requests import HTTPError
from dlt.sources.helpers.rest_client import RESTClient
from dlt.sources.helpers.rest_client.auth import HttpBasicAuth
from dlt.sources.helpers.rest_client.paginators import JSONLinkPaginator, JSONResponseCursorPaginator

from sourcebook.records import Checkpoint, Deleted

OVERLAP = 600
"""Seconds that each look reads once more: the export lacks the last minute, and clocks differ."""


class ZendeskTickets:
    """The tickets of an account.

    Args:
        url: address of the account.
        user: e-mail address of an administrator.
        token: an API token.
        notes: whether internal notes are read, which those who ask for help do not see.
        whole_every: hours between looks that read every ticket again, which find comments that were redacted.
    """

    def __init__(self, url, user, token, notes=True, whole_every=24):
        self.url, self.notes, self.whole_every = url, notes, whole_every
        self.client = RESTClient(f"{url}/api/v2/", auth=HttpBasicAuth(f"{user}/token", token))

    def changes(self, cursor):
        state = cursor or {"since": 1, "whole": 0}
        started, newest = time(), 0
        whole = not 0 <= started - state["whole"] < self.whole_every * 3600
        for ticket in self.exported(1 if whole else state["since"]):
            newest = max(newest, ticket["generated_timestamp"])
            yield self.record(ticket)
        if newest:  # the clock that is behind counts
            state["since"] = max(1, int(min(newest, started)) - OVERLAP)
        yield Checkpoint({**state, "whole": started if whole else state["whole"]})  # never complete: see OVERLAP

    def exported(self, since):
        """Yield the tickets that were changed since a time, also those that were deleted."""
        start, pages = {"start_time": since}, JSONLinkPaginator("after_url")
        for page in self.pages("incremental/tickets/cursor", start, pages):
            yield from page["tickets"]
            if page["end_of_stream"]:  # it has a next address all the same, for later
                return

    def record(self, ticket):
        try:
            comments = None if ticket["status"] == "deleted" else list(self.comments(ticket["id"]))
        except HTTPError as error:
            if error.response.status_code != 404:
                raise
            comments = None  # it was deleted since it was listed
        if comments is None:
            return Deleted(ticket["id"])
        return {**ticket, "comments": comments, "link": f"{self.url}/agent/tickets/{ticket['id']}"}

    def comments(self, ticket):
        """Yield the comments of a ticket, the first of which is its description."""
        pages = JSONResponseCursorPaginator("meta.after_cursor", "page[after]", has_more_path="meta.has_more")
        for page in self.pages(f"tickets/{ticket}/comments", {"page[size]": 100, "include": "users"}, pages):
            names = {user["id"]: user["name"] for user in page["users"]}
            for comment in page["comments"]:
                if comment["public"] or self.notes:
                    yield {**comment, "author": names.get(comment["author_id"], "unknown")}

    def pages(self, path, params, paginator):
        for found in self.client.paginate(path, params=params, paginator=paginator, data_selector="$"):
            yield found[0]

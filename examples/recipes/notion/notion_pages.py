"""Pages of a Notion workspace with their open comments, read by notion-client."""

import logging
from time import time

from notion_client import APIErrorCode, APIResponseError, Client
from notion_client.helpers import iterate_paginated_api

from sourcebook.records import Checkpoint, Deleted

RACY = 120
"""Seconds for which a page is read again: it may be edited once more within the minute that Notion gives."""


class NotionPages:
    """The pages that an integration was given.

    Args:
        token: the integration's secret; it may read content and comments.
        url: address of the API.
        whole_every: hours between looks that read every page again, which find comments.
    """

    def __init__(self, token, url="https://api.notion.com", whole_every=12):
        self.whole_every = whole_every
        self.client = Client(auth=token, base_url=url, log_level=logging.ERROR)

    def changes(self, cursor):
        state = cursor or {"marks": {}, "whole": 0}
        started = time()
        whole = not 0 <= started - state["whole"] < self.whole_every * 3600
        only = {"property": "object", "value": "page"}
        order = {"timestamp": "last_edited_time", "direction": "ascending"}
        found = iterate_paginated_api(self.client.search, filter=only, sort=order, page_size=100)
        listed = [page for page in found if not page["in_trash"]]
        known = {**dict.fromkeys(page["id"] for page in listed), **state["marks"]}
        yield Checkpoint({"marks": known, "whole": state["whole"]})  # also where this look fails: see below
        marks = {}
        for page in listed:
            edited, since = known[page["id"]] or (None, None)
            if edited != page["last_edited_time"]:
                since = started
            if whole or since is not None:
                yield self.record(page)
            if since is not None and started - since > RACY:  # both by this machine's clock
                since = None
            marks[page["id"]] = [page["last_edited_time"], since]
        for key in sorted(known.keys() - marks.keys()):  # the search may lack a page that was listed
            page = self.existing(key)
            if page is None:
                yield Deleted(key)
            else:
                yield self.record(page)
                marks[key] = None
        yield Checkpoint({"marks": marks, "whole": started if whole else state["whole"]}, complete=whole)

    def existing(self, key):
        try:
            page = self.client.pages.retrieve(key)
        except APIResponseError as error:
            if error.code != APIErrorCode.ObjectNotFound:
                raise
            return None
        return None if page["in_trash"] else page

    def record(self, page):
        titles = [part["plain_text"] for field in page["properties"].values() for part in field.get("title", ())]
        said = iterate_paginated_api(self.client.comments.list, block_id=page["id"])
        comments = ["".join(part["plain_text"] for part in each["rich_text"]) for each in said]
        return {**page, "title": "".join(titles), "text": self.text(page["id"]), "comments": comments}

    def text(self, key):
        """Return the Markdown of a page; a long one is continued in its blocks."""
        found = self.client.pages.retrieve_markdown(key)
        return "\n\n".join([found["markdown"], *(self.text(block) for block in found.get("unknown_block_ids", ()))])

"""Pages of a Confluence space with their comments, read by atlassian-python-api."""

import warnings
from time import time
from urllib.parse import parse_qs, urlsplit

from atlassian.confluence.cloud.cloud import ConfluenceCloud
from requests import Session

from sourcebook.records import Checkpoint, Deleted


class ConfluencePages:
    """The pages of a space; a look lists their versions, and reads those that have another one.

    Args:
        url: address of the wiki.
        user: e-mail address of the account.
        token: its API token.
        space: key of the space.
        whole_every: hours between looks that read every page again, which find comments that were written or edited.
    """

    def __init__(self, url, user, token, space, whole_every=12):
        self.url, self.space, self.whole_every = url, space, whole_every
        session = Session()
        session.hooks["response"].append(readable)
        with warnings.catch_warnings():  # it warns of methods that are not used here
            warnings.simplefilter("ignore", DeprecationWarning)
            self.client = ConfluenceCloud(
                url, username=user, password=token, session=session, backoff_and_retry=True, max_backoff_retries=5
            )

    def changes(self, cursor):
        state = cursor or {"versions": {}, "whole": 0}
        started = time()
        whole = not 0 <= started - state["whole"] < self.whole_every * 3600
        self.check_token()
        (space,) = self.client.get("api/v2/spaces", params={"keys": self.space})["results"]
        listed = {page["id"]: page for page in self.client.get_pages(space["id"], get_body=True, limit=250, sort="id")}
        self.check_token()  # who has none sees what everybody may see: the listing would be short
        versions = {key: page["version"]["number"] for key, page in listed.items()}
        for key, version in versions.items():
            if whole or state["versions"].get(key) != version:
                yield self.record(key)
        for key in state["versions"].keys() - versions.keys():
            yield Deleted(key)
        yield Checkpoint({"versions": versions, "whole": started if whole else state["whole"]}, complete=whole)

    def check_token(self):
        if self.client.get("rest/api/user/current")["type"] == "anonymous":
            raise RuntimeError("the token is not valid any more")

    def record(self, key):
        page = self.client.get_page_by_id(key, body_format="view")
        return {
            "id": key,
            "title": page["title"],
            "body": page["body"]["view"]["value"],
            "comments": [self.comment(each) for each in self.client.get_page_footer_comments(key, "storage")],
            "url": f"{self.url}{page['_links']['webui']}",
            "version": page["version"]["number"],
            "changed": page["version"]["createdAt"],
            "space": self.space,
        }

    def comment(self, comment):
        replies, start = [], {}
        while True:
            page = self.client.get_comment_children_v2(comment["id"], **{"body-format": "storage", **start})
            replies += [self.comment(each) for each in page["results"]]
            following = parse_qs(urlsplit(page.get("_links", {}).get("next", "")).query).get("cursor")
            if following is None:
                return {"body": comment["body"]["storage"]["value"], "replies": replies}
            start = {"cursor": following[0]}


def readable(response, **_):
    """Refuse half an answer, which the library takes for the end of a listing."""
    if response.ok:
        response.json()

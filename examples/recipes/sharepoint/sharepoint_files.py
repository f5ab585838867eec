"""Files of a library of SharePoint or of a OneDrive, read from Microsoft Graph by dlt's client for REST APIs."""

from time import time

from dlt.sources.helpers.requests import HTTPError
from dlt.sources.helpers.rest_client import RESTClient
from dlt.sources.helpers.rest_client.auth import OAuth2ClientCredentials
from dlt.sources.helpers.rest_client.paginators import JSONLinkPaginator

from sourcebook.records import Checkpoint, Deleted

BATCH = 20
"""Files behind which a look that was ended goes on."""
LOGIN, GRAPH = "https://login.microsoftonline.com", "https://graph.microsoft.com"


class SharepointFiles:
    """The files of a drive; what is in its recycle bin is gone.

    Args:
        tenant: ID of the tenant.
        client: ID of the registered application.
        secret: its client secret.
        drive: path of the drive, such as sites/example.sharepoint.com:/sites/ops:/drive, drives/ID or users/NAME/drive.
        folder: path of a folder in it, such as Handbook/Winches; None: all of them.
        max_bytes: maximum bytes of a file; a larger one is found by its name alone.
        login: address that gives tokens.
        graph: address of the API.
        whole_every: hours between looks that list every file anew.
    """

    def __init__(
        self, tenant, client, secret, drive, folder=None, max_bytes=10_000_000, login=LOGIN, graph=GRAPH, whole_every=24
    ):
        self.drive, self.folder, self.max_bytes, self.whole_every = drive, folder, max_bytes, whole_every
        token = OAuth2ClientCredentials(
            access_token_url=f"{login}/{tenant}/oauth2/v2.0/token",
            client_id=client,
            client_secret=secret,
            access_token_request_data={"scope": f"{GRAPH}/.default"},
        )
        self.client = RESTClient(f"{graph}/v1.0/", auth=token)

    def changes(self, cursor):
        state = cursor or {"link": None, "nodes": {}, "read": {}, "whole": 0}
        started, read = time(), state["read"]
        root = self.got(f"root:/{self.folder}" if self.folder else "root").json()["id"]
        whole = not 0 <= started - state["whole"] < self.whole_every * 3600
        state["link"] = None if whole else self.followed(state["nodes"], state["link"])
        if state["link"] is None:
            nodes = {}
            link = self.followed(nodes, f"{self.drive}/root/delta", is_new=True)
            state |= {"link": link, "nodes": nodes, "whole": started}
        wanted = {key: tag for key, (_, tag) in state["nodes"].items() if tag and is_inside(key, root, state["nodes"])}
        for key in read.keys() - wanted.keys():
            del read[key]
            yield Deleted(key)
        read |= dict.fromkeys(wanted.keys() - read.keys())  # so that none is forgotten where this look is ended
        for number, key in enumerate([key for key, tag in wanted.items() if read[key] != tag]):
            if number % BATCH == 0:
                yield Checkpoint(state)
            if record := self.record(key):
                read[key] = wanted[key]
                yield record
        yield Checkpoint(state, complete=cursor is None)

    def followed(self, nodes, link, is_new=False):
        """Apply what was changed since a link; return the next one, or None where it is not valid any more."""
        paginator = JSONLinkPaginator("'@odata.nextLink'")
        try:
            for (page,) in self.client.paginate(link, paginator=paginator, data_selector="$"):
                for item in page["value"]:
                    nodes.pop(item["id"], None)
                    if "deleted" not in item:
                        nodes[item["id"]] = item.get("parentReference", {}).get("id"), "file" in item and item["eTag"]
        except HTTPError as error:
            if is_new or error.response.status_code != 410:
                raise
            return None
        return page["@odata.deltaLink"]

    def record(self, key):
        """Return a file with its bytes; None where it went meanwhile, which the next look is told."""
        try:
            item = self.got(f"items/{key}").json()
            if item["size"] > self.max_bytes or "malware" in item:  # its name is what there is to read
                return {**item, "content": item["name"], "type": "text/plain"}
            return {**item, "content": self.got(f"items/{key}/content").content, "type": item["name"]}
        except HTTPError as error:
            if error.response.status_code != 404:
                raise
            return None

    def got(self, path):
        response = self.client.get(f"{self.drive}/{path}")
        response.raise_for_status()
        return response


def is_inside(key, root, nodes):
    while key != root:
        if key not in nodes:
            return False
        key = nodes[key][0]
    return True

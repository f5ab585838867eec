"""Files below a folder of Google Drive, read by google-api-python-client."""

import json
from time import time

from google.oauth2.service_account import Credentials
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError

from sourcebook.records import Checkpoint, Deleted

RETRIES = 4
BATCH = 20
"""Files behind which a look that was ended goes on."""
GOOGLE, OFFICE = "application/vnd.google-apps.", "application/vnd.openxmlformats-officedocument."
EXPORTS = {
    "document": (f"{OFFICE}wordprocessingml.document", ".docx"),
    "spreadsheet": (f"{OFFICE}spreadsheetml.sheet", ".xlsx"),
    "presentation": (f"{OFFICE}presentationml.presentation", ".pptx"),
    "drawing": ("application/pdf", ".pdf"),
}
LOCKED = ("exportSizeLimitExceeded", "fileNotDownloadable", "cannotDownloadAbusiveFile")
FIELDS = "id,name,mimeType,parents,explicitlyTrashed,version,size,modifiedTime,webViewLink,capabilities(canDownload)"


class DriveFiles:
    """The files of a folder and of the folders in it; what is in the trash is gone.

    Args:
        key: key of a service account, as JSON.
        folder: ID of the folder, or of a shared drive.
        drive: ID of the shared drive in which the folder lies; None: it lies in somebody's own.
        max_bytes: maximum bytes of a file; a larger one is found by its name alone.
        url: address of the API; None: that of Google.
        whole_every: hours between looks that list every file anew.
    """

    def __init__(self, key, folder, drive=None, max_bytes=10_000_000, url=None, whole_every=24):
        self.folder, self.max_bytes, self.whole_every = folder, max_bytes, whole_every
        scopes = ["https://www.googleapis.com/auth/drive.readonly"]
        account = Credentials.from_service_account_info(json.loads(key), scopes=scopes)
        self.api = build("drive", "v3", credentials=account, client_options={"api_endpoint": url} if url else None)
        self.place = {"driveId": drive} if drive else {}
        self.every = {"supportsAllDrives": True, "includeItemsFromAllDrives": True, "pageSize": 1000, **self.place}

    def changes(self, cursor):
        state = cursor or {"token": None, "nodes": {}, "read": {}, "whole": 0}
        started, read, root = time(), state["read"], self.root()
        whole = not 0 <= started - state["whole"] < self.whole_every * 3600
        state["token"] = None if whole else self.followed(state["nodes"], state["token"])
        if state["token"] is None:
            start = self.api.changes().getStartPageToken(supportsAllDrives=True, **self.place)
            token = start.execute(num_retries=RETRIES)["startPageToken"]
            nodes = {file["id"]: node(file) for file in self.listed()}
            token = self.followed(nodes, token, is_new=True)  # what was moved meanwhile
            state |= {"token": token, "nodes": nodes, "whole": started}
        wanted = {
            key: mark for key, (_, _, mark) in state["nodes"].items() if mark and is_inside(key, root, state["nodes"])
        }
        for key in read.keys() - wanted.keys():
            del read[key]
            yield Deleted(key)
        read |= dict.fromkeys(wanted.keys() - read.keys())  # so that none is forgotten where this look is ended
        for number, key in enumerate([key for key, mark in wanted.items() if read[key] != mark]):
            if number % BATCH == 0:
                yield Checkpoint(state)
            if record := self.record(key):
                read[key] = wanted[key]
                yield record
        yield Checkpoint(state, complete=cursor is None)

    def root(self):
        """Return the ID of the folder, which must be there: without it every file would seem to be gone."""
        request = self.api.files().get(fileId=self.folder, fields="id,trashed", supportsAllDrives=True)
        folder = request.execute(num_retries=RETRIES)
        if folder["trashed"]:
            raise RuntimeError("the folder is in the trash")
        return folder["id"]

    def listed(self):
        """Yield every file and folder, also what is in the trash, which may come back with its folder."""
        corpora = "drive" if self.place else "user"
        fields = f"nextPageToken, incompleteSearch, files({FIELDS})"
        request = self.api.files().list(corpora=corpora, fields=fields, **self.every)
        while request is not None:
            page = request.execute(num_retries=RETRIES)
            if page.get("incompleteSearch"):
                raise RuntimeError("Google has not searched everything")
            yield from page["files"]
            request = self.api.files().list_next(request, page)

    def followed(self, nodes, token, is_new=False):
        """Apply what was changed since a token; return the next token, or None where it is not valid any more."""
        fields = f"nextPageToken, newStartPageToken, changes(fileId, removed, file({FIELDS}))"
        request = self.api.changes().list(pageToken=token, fields=fields, **self.every)
        while request is not None:
            try:
                page = request.execute(num_retries=RETRIES)
            except HttpError as error:
                if is_new or error.status_code not in (400, 404, 410):
                    raise
                return None
            for change in page["changes"]:
                nodes.pop(change.get("fileId"), None)
                if "file" in change and not change.get("removed"):
                    nodes[change["fileId"]] = node(change["file"])
            request = self.api.changes().list_next(request, page)
        return page["newStartPageToken"]

    def record(self, key):
        """Return a file with its bytes; None where it went meanwhile, which the next look is told."""
        try:
            file = self.api.files().get(fileId=key, fields=FIELDS, supportsAllDrives=True).execute(num_retries=RETRIES)
            content, suffix = self.content(file)
        except HttpError as error:
            if error.status_code != 404:
                raise
            return None
        if content is None:  # its name is what there is to read
            return {**file, "content": file["name"], "type": "text/plain"}
        return {**file, "content": content, "type": file["name"] + suffix}

    def content(self, file):
        export, suffix = EXPORTS.get(file["mimeType"].removeprefix(GOOGLE), (None, ""))
        if not file["capabilities"]["canDownload"]:
            return None, ""
        if export:
            request = self.api.files().export_media(fileId=file["id"], mimeType=export)
        elif file["mimeType"].startswith(GOOGLE) or int(file["size"]) > self.max_bytes:
            return None, ""
        else:
            request = self.api.files().get_media(fileId=file["id"], supportsAllDrives=True)
        try:
            return request.execute(num_retries=RETRIES), suffix
        except HttpError as error:
            if not any(reason in str(error.error_details) for reason in LOCKED):
                raise
            return None, ""


def node(file):
    """Return the parent of a file, whether it is in the trash, and its version, which folders and shortcuts lack."""
    is_file = file["mimeType"] not in (f"{GOOGLE}folder", f"{GOOGLE}shortcut")
    return file.get("parents", [None])[0], file.get("explicitlyTrashed", False), file["version"] if is_file else None


def is_inside(key, root, nodes):
    while key != root:
        parent, is_trashed, _ = nodes.get(key, (None, True, None))
        if is_trashed:
            return False
        key = parent
    return True

"""The messages of a mailbox, read over IMAP by imap-tools."""

import hashlib

from imap_tools import MailBox, MailBoxUnencrypted

from sourcebook.records import Checkpoint, Deleted

BATCH = 50
"""Messages of one request."""


class MailMessages:
    """The messages of some folders, or of all; a message in two folders is one record.

    Args:
        host: name of the server.
        user: name of the account.
        password: its password, or one that was made for this program.
        folders: names of folders, all of which are there; None: every folder.
        port: port of the server; None: the usual one.
        encrypted: whether the connection is encrypted from the start.
    """

    def __init__(self, host, user, password, folders=None, port=None, encrypted=True):
        self.host, self.user, self.password, self.folders = host, user, password, folders
        self.port, self.encrypted = port, encrypted

    def changes(self, cursor):
        state = cursor or {"folders": {}, "left": []}
        folders, left = state["folders"], set(state["left"])
        connect, port = (MailBox, 993) if self.encrypted else (MailBoxUnencrypted, 143)
        box = connect(self.host, self.port or port)
        try:
            box.login(self.user, self.password, initial_folder=None)
            gone = left
            for is_second in (False, True):  # what is moved meanwhile is in no folder of one round
                yield from self.round(box, folders, left)
                held = {key for folder in folders.values() for key in folder["keys"].values()}
                gone = (gone if is_second else left) - held
                if not gone:
                    break
        finally:
            box.client.shutdown()
        for key in sorted(gone):
            yield Deleted(key)
        yield Checkpoint({"folders": folders, "left": sorted(left - held - gone)}, complete=cursor is None)

    def round(self, box, folders, left):
        """Yield what is new in each folder; `left` gets the keys of what is not in a folder any more."""
        listed = [each.name for each in box.folder.list() if "\\Noselect" not in each.flags]
        wanted = self.folders or ["INBOX"]  # which every server has: imap-tools takes a refusal for an empty list
        if missing := {name.upper() for name in wanted} - {name.upper() for name in listed}:
            raise RuntimeError(f"the server does not list {', '.join(sorted(missing))}")
        names = [name for name in listed if self.folders is None or name in self.folders]
        for name in folders.keys() - set(names):
            left.update(folders.pop(name)["keys"].values())
        for name in names:
            box.folder.set(name, readonly=True)
            validity = box.folder.status(name, ["UIDVALIDITY"])["UIDVALIDITY"]
            known = folders.get(name, {"validity": None, "keys": {}})
            uids = box.uids()
            is_valid = known["validity"] == validity  # else the server has numbered the messages again
            keys = {uid: known["keys"][uid] for uid in uids if is_valid and uid in known["keys"]}
            left.update(set(known["keys"].values()) - set(keys.values()))
            folders[name] = {"validity": validity, "keys": keys}
            new = [uid for uid in uids if uid not in keys]
            for start in range(0, len(new), BATCH):
                wanted = new[start : start + BATCH]
                for message in box.fetch(uid_list=wanted, mark_seen=False, bulk=BATCH):
                    found = record(message)
                    keys[message.uid] = found["id"]
                    yield found
                yield Checkpoint({"folders": folders, "left": sorted(left)})


def record(message):
    content = message.obj.as_bytes()
    names = [name.strip("<>") for header in ("references", "in-reply-to") for name in words(message, header)]
    own = next(iter(words(message, "message-id")), "").strip("<>")
    key = own or hashlib.sha256(content).hexdigest()
    return {
        "id": key,
        "subject": message.subject,
        "message": content,
        "type": "message/rfc822",
        "thread": (names or [key])[0],
        "sender": message.from_,
        "sent": message.date.isoformat(),
        "files": [
            {"name": each.filename, "type": each.content_type, "content": each.payload}
            for each in message.attachments
            if each.filename and not (each.content_disposition == "inline" and each.content_type.startswith("image/"))
        ],  # programs send PDF inline, too
    }


def words(message, header):
    return " ".join(message.headers.get(header, ())).split()

"""A mailbox behind IMAP4rev1 (RFC 3501), as far as a client needs it that reads."""

import re
import socketserver
import threading
from email.message import EmailMessage
from typing import Self

from tests.recipes.service import Change, Service

_FOLDERS = ("INBOX", "Archive", "Lists/Ümlaut")
_WIRE = {"Lists/Ümlaut": "Lists/&ANw-mlaut"}


class Mailbox(Service):
    """Messages that come, move, are copied, and go; folders that are numbered again (UIDVALIDITY)."""

    recipe = "mail"
    follows_clock = False
    environment = {"MAIL_PASSWORD": "correct"}  # noqa: RUF012
    faults = ("error", "cut", "reset", "expired", "kill", "change")

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.messages: dict[str, tuple[list[str], bytes]] = {}
        """Words and bytes by identity."""
        self.folders: dict[str, dict[int, str]] = {_WIRE.get(name, name): {} for name in _FOLDERS}
        self.validity = dict.fromkeys(self.folders, 1)
        self.next_uid = dict.fromkeys(self.folders, 1)

    def __enter__(self) -> Self:
        mailbox = self

        class Handler(socketserver.StreamRequestHandler):
            disable_nagle_algorithm = True

            def handle(self) -> None:
                _Session(mailbox, self).run()

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self._serving = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._serving.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._serving.join()

    def settings(self, text: str) -> str:
        names = f"[{', '.join(_FOLDERS)}]"
        return text.replace("imap.example.com", f"127.0.0.1, port: {self.port}, encrypted: false").replace(
            "[INBOX, Archive]", names
        )

    def change(self) -> Change:
        places = [(folder, uid) for folder, held in self.folders.items() for uid in held]
        kinds = ("come", "come", "come", "move", "copy", "go", "go", "number")
        kind = self.random.choice(kinds) if len(places) > 5 else "come"
        folder, uid = self.random.choice(places) if places else ("INBOX", 0)
        match kind:
            case "come":
                key = self._compose()
                self._put(self.random.choice(list(self.folders)), key)
                return Change(key)
            case "number":
                keys = list(self.folders[folder].values())
                self.folders[folder], self.next_uid[folder] = {}, 1
                self.validity[folder] += 1
                for held in self.random.sample(keys, len(keys)):
                    self._put(folder, held)
                return Change("none")
        key = self.folders[folder][uid]
        if kind != "go":
            self._put(self.random.choice(list(self.folders)), key)
        if kind != "copy":
            del self.folders[folder][uid]
        return Change(key)

    def truth(self) -> dict[str, list[str]]:
        return {key: self.messages[key][0] for held in self.folders.values() for key in held.values()}

    def _put(self, folder: str, key: str) -> None:
        if key not in self.folders[folder].values():
            self.folders[folder][self.next_uid[folder]] = key
            self.next_uid[folder] += 1

    def _compose(self) -> str:
        key = f"{self.word()}@mail.example.com"
        words = [self.word(), self.word(), self.word()]
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = "Alma <alma@example.com>", "desk@example.com", words[0]
        message["Message-ID"], message["Date"] = f"<{key}>", self.now().strftime("%a, %d %b %Y %H:%M:%S +0000")
        if self.messages:
            message["In-Reply-To"] = f"<{self.random.choice(list(self.messages))}>"
        message.set_content(f"Grüße von der Mole, {words[1]}.\n")
        message.add_attachment(f"height,{words[2]}\n", filename="curve.txt")
        self.messages[key] = (words, message.as_bytes())
        return key


class _Session:
    def __init__(self, mailbox: Mailbox, stream: socketserver.StreamRequestHandler) -> None:
        self.mailbox, self.stream = mailbox, stream
        self.folder = ""

    def run(self) -> None:
        self._send("* OK IMAP4rev1 ready")
        while line := self.stream.rfile.readline().decode().strip():
            tag, command, *rest = line.split(" ", 2)
            arguments = rest[0] if rest else ""
            with self.mailbox.lock:
                fault = self.mailbox.meets() if command not in ("CAPABILITY", "LOGOUT") else None
                if fault in ("reset", "kill"):
                    return
                if fault == "error":
                    self._send(f"{tag} NO [UNAVAILABLE] try later")
                    continue
                if fault == "expired":
                    self._send(f"{tag} NO [EXPIRED] the session has ended")
                    continue
                lines = self._answered(command.upper(), arguments)
            if fault == "cut":
                self.stream.wfile.write(lines[0][: len(lines[0]) // 2] if lines else b"* ")
                return
            for each in lines:
                self.stream.wfile.write(each)
            self._send(f"{tag} {self.result}")
            if command == "LOGOUT":
                return

    def _send(self, line: str) -> None:
        self.stream.wfile.write(line.encode() + b"\r\n")

    def _answered(self, command: str, arguments: str) -> list[bytes]:
        self.result = "OK done"
        match command:
            case "CAPABILITY":
                return [b"* CAPABILITY IMAP4rev1\r\n"]
            case "LOGIN":
                if '"correct"' not in arguments:
                    self.result = "NO [AUTHENTICATIONFAILED] wrong password"
            case "LIST":
                return [f'* LIST (\\HasNoChildren) "/" "{name}"\r\n'.encode() for name in self.mailbox.folders]
            case "SELECT" | "EXAMINE":
                self.folder = arguments.strip('"')
                return [f"* {len(self._held)} EXISTS\r\n* OK [UIDVALIDITY {self._validity}]\r\n".encode()]
            case "STATUS":
                return [f'* STATUS "{self.folder}" (UIDVALIDITY {self._validity})\r\n'.encode()]
            case "UID" if arguments.upper().startswith("SEARCH"):
                return [("* SEARCH " + " ".join(map(str, self._held)) + "\r\n").encode()]
            case "UID":
                wanted = {int(number) for number in re.findall(r"\d+", arguments.split(" ")[1])}
                return [self._message(number, uid) for number, uid in enumerate(self._held, 1) if uid in wanted]
            case "LOGOUT":
                return [b"* BYE\r\n"]
            case _:
                self.result = "BAD unknown command"
        return []

    def _message(self, number: int, uid: int) -> bytes:
        content = self.mailbox.messages[self._held[uid]][1].replace(b"\n", b"\r\n")
        head = f"* {number} FETCH (UID {uid} FLAGS (\\Seen) RFC822.SIZE {len(content)} BODY[] {{{len(content)}}}\r\n"
        return head.encode() + content + b")\r\n"

    @property
    def _held(self) -> dict[int, str]:
        return self.mailbox.folders[self.folder]

    @property
    def _validity(self) -> int:
        return self.mailbox.validity[self.folder]

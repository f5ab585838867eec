"""A drive: folders and files that come, change, move, go to the trash and back, and a log of what was changed."""

import io
import zipfile
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final

from tests.recipes.service import Change, HttpService

ROOT, OTHER = "root", "elsewhere"
"""The folder that a recipe reads, and one beside it."""
FILES: Final = ("note.txt", "plan.docx", "curve.pdf")
_CHANGES = (
    *("add",) * 5, *("edit",) * 3, "rename", "add folder", "move", "move", "move folder", "trash", "trash folder",
    "restore", "restore", "delete", "delete folder", "forget",
)  # fmt: skip
_DOCUMENT = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>It slips, says
 {}.</w:t></w:r></w:p></w:body></w:document>"""
_TYPES = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels"
 ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml"
 ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"""
_RELATIONS = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1"
 Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
 Target="word/document.xml"/></Relationships>"""


@dataclass
class Node:
    """A file or a folder; of a file the name has a word, and the content another one."""

    id: str
    name: str
    parent: str
    created: datetime
    modified: datetime
    text: str | None = None
    """Word in the content; None: it is a folder."""
    is_trashed: bool = False
    version: int = 1
    is_locked: bool = False
    """Whether nobody may download it."""

    @property
    def content(self) -> bytes:
        text = f"It slips, says {self.text}."
        if self.name.endswith(".docx"):
            return _docx(text)
        return _pdf(text) if self.name.endswith(".pdf") else text.encode()


class DriveService(HttpService):
    """Nodes by their ids; a change of a folder is no change of what is in it."""

    follows_clock = False
    locks: ClassVar[bool] = False
    """Whether some files may not be downloaded."""
    tells_restored: ClassVar[bool] = False
    """Whether the log tells of the files of a folder that comes back, too."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.nodes: dict[str, Node] = {}
        self.log: list[str] = []
        self.oldest = 0
        """Place in the log from which it is kept."""
        self.nodes |= {name: Node(name, name, "", self.time, self.time) for name in (ROOT, OTHER)}

    def change(self) -> Change:
        before = self.truth()
        self._change()
        after = self.truth()
        changed = [key for key in {**before, **after} if before.get(key) != after.get(key)]
        if self.fault == "change":  # between two requests, and more than one with a folder
            self.meanwhile += [Change(key) for key in changed[1:]]
        return Change(changed[0] if changed else "none")

    def truth(self) -> dict[str, list[str]]:
        inside = [each for each in self.nodes.values() if each.text and self.is_inside(each)]
        return {each.id: [_word(each.name), _word(each.name) if each.is_locked else each.text or ""] for each in inside}

    def is_inside(self, node: Node) -> bool:
        """Return whether a node is below the folder that is read, and not in the trash."""
        return node.id == ROOT or (
            not node.is_trashed and node.parent in self.nodes and self.is_inside(self.nodes[node.parent])
        )

    def is_in_trash(self, node: Node) -> bool:
        return node.is_trashed or (node.parent in self.nodes and self.is_in_trash(self.nodes[node.parent]))

    def changes_after(self, place: int) -> list[tuple[int, str]]:
        """Return each changed node once, with the place of its last change in the log."""
        last = {key: number for number, key in enumerate(self.log, 1)}
        return sorted((number, key) for key, number in last.items() if number > place)

    def _change(self) -> None:
        files = [each for each in self.nodes.values() if each.text]
        folders = [each for each in self.nodes.values() if not each.text]
        own = [each for each in folders if each.id.startswith("n")]
        kind = self.random.choice(_CHANGES) if len(self.truth()) > 5 else "add"
        node = self.random.choice(own if kind.endswith(" folder") and own else files) if files else None
        parent = self.random.choice(folders)
        match kind.partition(" ")[0]:
            case "forget":
                self.oldest = len(self.log)
                return
            case "delete" if node:
                self._delete(node.id)
            case "move" if node and not self._is_below(parent, node):
                node.parent = parent.id
            case "trash" if node:
                node.is_trashed = True
            case "restore":
                for each in self.nodes.values():
                    if each.is_trashed:
                        node = each
                node = node or parent
                node.is_trashed = False
            case "rename" if node:
                node.name = f"{self.word()} {node.name.rpartition(' ')[2]}"
            case "edit" if node:
                node.text, node.modified = self.word(), self.now()
            case _:
                node = self._add(parent, is_folder=kind == "add folder")
        node.version += 1
        self.log.append(node.id)
        if kind == "restore" and self.tells_restored:
            self.log += [each.id for each in self.nodes.values() if each is not node and self._is_below(each, node)]

    def _add(self, parent: Node, *, is_folder: bool) -> Node:
        self.numbers += 1
        name = "folder" if is_folder else f"{self.word()} {self.random.choice(FILES)}"
        parent = parent if self.random.random() < 0.5 else self.nodes[ROOT]
        node = Node(f"n{self.numbers}", name, parent.id, self.now(), self.now(), None if is_folder else self.word())
        node.is_locked = self.locks and self.random.random() < 0.1
        self.nodes[node.id] = node
        return node

    def _delete(self, key: str) -> None:
        """Delete a node with what is in it, of which the log says nothing."""
        del self.nodes[key]
        for child in [each.id for each in self.nodes.values() if each.parent == key]:
            self._delete(child)

    def _is_below(self, node: Node, folder: Node) -> bool:
        return node.id == folder.id or (node.parent in self.nodes and self._is_below(self.nodes[node.parent], folder))


def _word(name: str) -> str:
    return name.partition(" ")[0]


def _docx(text: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:  # so that words stand in the bytes
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("_rels/.rels", _RELATIONS)
        archive.writestr("word/document.xml", _DOCUMENT.replace("It slips, says\n {}.", text))
    return made.getvalue()


def _pdf(text: str) -> bytes:
    drawn = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources 6 0 R >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Font << /F1 5 0 R >> >>",
    )
    content, places = b"%PDF-1.4\n", []
    for number, held in enumerate(objects, 1):
        places.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, held)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size, start = len(objects) + 1, len(content)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, start)
    return content + b"xref\n0 %d\n0000000000 65535 f \n" % size + table + trailer

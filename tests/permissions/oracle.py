"""A random world of documents, groups and permissions, and who may see what in it: by Python alone."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

PEOPLE = ("user:anna", "user:Béa {x,y}", 'user:"quote\\', "user:o'neil@example.org")
GROUPS = ("group:board", "group:hr", "group:a,b", "group:🐚", "group:NULL", "group:{}")
FOLDERS = ("hr", "board", "open", "else")
_WORDS = ("tide", "gauge", "harbour", "keeper", "winter", "rope", "stone", "lamp", "sail", "mast", "chart", "anchor")
_MOST_DOCUMENTS = 14
_RULES = 4


@dataclass
class OracleWorld:
    """Documents with their links, the groups of groups, and the rules of their source."""

    random: Random
    texts: dict[str, str] = field(default_factory=dict)
    """Markdown by name; a removed document has none."""
    links: dict[str, set[str]] = field(default_factory=dict)
    members: set[tuple[str, str]] = field(default_factory=set)
    """Principals with a group that each is a member of; circles happen."""
    rules: list[tuple[str | None, list[str]]] = field(default_factory=list)
    """Regular expressions for the end of a URI, of which the first that fits decides, and who is allowed."""
    denied: list[str] = field(default_factory=list)
    _made: int = 0

    def change(self) -> None:
        """Change documents, groups and permissions, each of them or not."""
        for _ in range(8 if not self.texts else self.random.randint(0, 3)):
            self._change_document()
        if self.random.random() < 0.5:
            self.members = {self._membership() for _ in range(self.random.randint(0, 8))}
        if self.random.random() < 0.8:
            self._change_rules()

    def visible(self, viewer: Iterable[str]) -> set[str]:
        """Return the names of the documents that a viewer may see."""
        return self.allowed(viewer, self.texts)

    def allowed(self, viewer: Iterable[str], names: Iterable[str]) -> set[str]:
        """Return those of some documents, removed ones too, that the permissions let a viewer see."""
        held = self._held(viewer)
        if held & {*self.denied}:
            return set()
        return {name for name in names if held & {*self._allowed(name)}}

    def viewer(self) -> list[str]:
        """Return the principals of some caller."""
        return self.random.sample(PEOPLE + GROUPS, self.random.randint(0, 3))

    def _held(self, viewer: Iterable[str]) -> set[str]:
        held = {"everyone", *viewer}
        while added := {group for member, group in self.members if member in held} - held:
            held |= added
        return held

    def _allowed(self, name: str) -> list[str]:
        return next((allowed for path, allowed in self.rules if path is None or re.search(path, f"/{name}")), [])

    def _membership(self) -> tuple[str, str]:
        return self.random.choice((*PEOPLE, *GROUPS)), self.random.choice(GROUPS)

    def _change_rules(self) -> None:
        anyone = (*PEOPLE, *GROUPS, "everyone")
        paths = [
            None if self.random.random() < 0.2 else rf"{self._path()}" for _ in range(self.random.randint(0, _RULES))
        ]
        self.rules = [(path, self.random.sample(anyone, self.random.randint(0, 3))) for path in paths]
        self.denied = [self.random.choice(anyone[:-1])] if self.random.random() < 0.3 else []

    def _path(self) -> str | None:
        return self.random.choice((None, *(f"/{folder}/" for folder in FOLDERS), r"[02468]\.md$", r"doc1\d*\.md$"))

    def _change_document(self) -> None:
        if self.texts and self.random.random() < (0.7 if len(self.texts) >= _MOST_DOCUMENTS else 0.2):
            name = self.random.choice([*self.texts])
            del self.texts[name], self.links[name]
            return
        if self.texts and self.random.random() < 0.3:
            name = self.random.choice([*self.texts])
        else:
            self._made += 1
            name = f"{self.random.choice(FOLDERS)}/doc{self._made}.md"
        self.links[name] = {*self.random.sample([*self.texts], min(len(self.texts), self.random.randint(0, 2)))} - {
            name
        }
        linked = " ".join(f"See [that](../{other})." for other in sorted(self.links[name]))
        words = " ".join(self.random.choice(_WORDS) for _ in range(self.random.randint(12, 40)))
        self.texts[name] = f"# {name}\n\nThe barnacle {self._number()} of the {words}. {linked}\n"

    def _number(self) -> str:
        return f"code{self.random.randrange(10**6)}x"

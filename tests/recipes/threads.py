"""A service of threads: a title, a text, comments, and replies to these, which come, change and go."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from tests.recipes.service import START, Change, HttpService

AUTHORS = ("alma", "brita", "carl")


@dataclass
class Post:
    """A text with replies."""

    id: str
    text: str
    author: str
    created: datetime
    replies: list["Post"] = field(default_factory=list)
    is_edited: bool = False

    def words(self) -> list[str]:
        return [self.text, *(word for reply in self.replies for word in reply.words())]


@dataclass
class Thread(Post):
    """A post with a title, and the time of its last change as its service tells it."""

    title: str = ""
    updated: datetime = field(default_factory=lambda: START)
    kind: str = ""


class ThreadService(HttpService):
    """Threads by number; what an API tells of is in `told`, by the kind of change."""

    kinds: ClassVar[tuple[str, ...]] = ("",)
    told: ClassVar[frozenset[str]] = frozenset({"add", "edit", "comment", "reply"})
    changes: ClassVar[tuple[str, ...]] = (
        "add", "add", "add", "edit", "edit", "delete", "comment", "comment", "comment", "reply", "edit comment",
        "delete comment",
    )  # fmt: skip
    depth: ClassVar[int] = 2
    """Levels of comments."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.threads: dict[str, Thread] = {}
        self.gone: dict[str, datetime] = {}
        """Threads that were deleted, and when."""

    def key(self, thread: Thread) -> str:
        """Return the key of a thread's record."""
        return thread.id

    def truth(self) -> dict[str, list[str]]:
        return {self.key(each): [each.title, *each.words()] for each in self.threads.values()}

    def change(self) -> Change:
        kind = self.random.choice(self.changes) if len(self.threads) > 4 else "add"
        threads = list(self.threads.values())
        thread = self.random.choice([*threads[-1:] * 5, *threads]) if threads else None  # what is new is edited most
        if thread is None or kind == "add":
            thread = self.begun()
            self.threads[thread.id] = thread
            return Change(self.key(thread))
        kind = self._changed(thread, kind)
        if kind in self.told:
            thread.updated = self.now()
        return Change(self.key(thread), kind in self.told)

    def begun(self) -> Thread:
        """Return a new thread."""
        self.numbers += 1
        now = self.now()
        author, kind = self.random.choice(AUTHORS), self.random.choice(self.kinds)
        number = str(self.numbers)
        return Thread(number, self.word(), author, now, title=self.word(), updated=now, kind=kind)

    def _changed(self, thread: Thread, kind: str) -> str:
        """Change a thread; return what was done."""
        comments = thread.replies
        deeper = [reply for comment in comments for reply in comment.replies]
        if kind == "delete":
            self.gone[thread.id] = self.now()
            del self.threads[thread.id]
        elif kind in ("edit comment", "delete comment") and comments:
            if kind == "delete comment":
                comments.remove(self.random.choice(comments))
            else:
                comment = self.random.choice([*comments, *deeper])
                comment.text, comment.is_edited = self.word(), True
        elif kind == "reply" and comments and self.depth > 1:
            self.random.choice(comments).replies.append(self._post())
        elif kind in ("comment", "reply"):
            comments.append(self._post())
            return "comment"
        else:
            thread.text, thread.is_edited = self.word(), True
            return "edit"
        return kind

    def _post(self) -> Post:
        self.numbers += 1
        return Post(f"post{self.numbers}", self.word(), self.random.choice(AUTHORS), self.now())

"""The outcome of one kill."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Outcome:
    """One kill and what was wrong after it."""

    kind: str
    seconds: float
    """Seconds from the kill, or from the start of the command that mends, until everything was right again."""
    wrong: list[str] = field(default_factory=list)
    """Sentences about what was not right."""

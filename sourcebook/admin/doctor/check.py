"""One line of the report of `sourcebook doctor`."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Check:
    """A check: its subject, the result, and the remedy."""

    name: str
    state: Literal["ok", "warn", "fail"]
    detail: str
    remedy: str = ""
    """Command that solves the problem; empty without a problem."""


def ok(name: str, detail: str) -> Check:
    """Return a check that passed."""
    return Check(name, "ok", detail)


def warn(name: str, detail: str, remedy: str) -> Check:
    """Return a check that found an optional part missing."""
    return Check(name, "warn", detail, remedy)


def fail(name: str, detail: str, remedy: str) -> Check:
    """Return a check that failed."""
    return Check(name, "fail", detail, remedy)

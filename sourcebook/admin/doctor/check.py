"""One line of the doctor's report."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, what was found, and what to do about it."""

    name: str
    state: Literal["ok", "warn", "fail"]
    detail: str
    remedy: str = ""
    """The command that mends it; empty where nothing is wrong."""


def ok(name: str, detail: str) -> Check:
    """All is well."""
    return Check(name, "ok", detail)


def warn(name: str, detail: str, remedy: str) -> Check:
    """Something is missing that not everybody needs."""
    return Check(name, "warn", detail, remedy)


def fail(name: str, detail: str, remedy: str) -> Check:
    """Something does not work."""
    return Check(name, "fail", detail, remedy)

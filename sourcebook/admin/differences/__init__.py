"""Differences between two documents."""

from sourcebook.admin.differences.documents import differences

__all__ = ["differences"]

"""Records as documents: rows of tables, and what programs yield.

A program is a class with a method `changes(cursor)`, which yields mappings, `Deleted` keys and `Checkpoint`s.
"""

from sourcebook.records.record import Checkpoint, Deleted

__all__ = ["Checkpoint", "Deleted"]

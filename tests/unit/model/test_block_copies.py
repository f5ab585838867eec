"""Blocks as they travel between processes."""

from copy import copy
from dataclasses import fields

from sourcebook.model.document import Block


def test_a_copy_for_another_process_has_all_fields() -> None:
    block = Block("code", 1, 9, 2, "t", 3, "a", 4.5, 5.5, (0.0, 1.0, 2.0, 3.0))
    assert all(getattr(block, each.name) != each.default for each in fields(Block))
    assert copy(block) == block
    assert block.__reduce__() == (Block, tuple(getattr(block, each.name) for each in fields(Block)))

"""Vectors are copied in the binary format of the server."""

import struct

import numpy as np
import pytest

from sourcebook.transfer.passages import vector_rows


def test_a_row_is_a_hash_and_a_vector_in_half_precision() -> None:
    rows = vector_rows([b"a" * 32, b"b" * 32], np.array([[1.0, -0.5], [0.25, 0.0]], np.float32))
    assert rows[:19] == b"PGCOPY\n\xff\r\n\0" + bytes(8)
    assert rows[-2:] == b"\xff\xff"
    found = list(struct.iter_unpack(">hi32sihhee", rows[19:-2]))
    assert found == [(2, 32, b"a" * 32, 8, 2, 0, 1.0, -0.5), (2, 32, b"b" * 32, 8, 2, 0, 0.25, 0.0)]


@pytest.mark.parametrize(("value", "told"), [(None, "missing"), (b"short", "32 bytes"), (b"", "32 bytes")])
def test_a_hash_that_is_none_is_refused(value: bytes | None, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        vector_rows([b"a" * 32, value], np.zeros((2, 2), np.float32))

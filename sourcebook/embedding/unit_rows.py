"""Vectors of length 1."""

import numpy as np
from numpy.typing import NDArray


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale each row to length 1, in float32 whatever the model computed in; a zero row stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float32)
    rows: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-12))
    return rows

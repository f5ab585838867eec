"""Vectors of a program's own texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


MOST_TEXTS: Final = 2_048
"""Texts that are embedded at once, at most."""


@dataclass(frozen=True, slots=True)
class TextVectors:
    """Vectors of texts by one model."""

    model: str
    """Name of the model."""
    vectors: NDArray[np.float32]
    """Shape (texts, dimensions), each row of length 1, in the order of the texts."""
    tokens: int | None
    """Tokens of the texts after truncation; None where nobody counts them."""

"""Dynamic time warping of words and sound, in place of openai-whisper's, which numba compiles for three seconds."""

import numpy as np
from numpy.typing import NDArray


def alignment_path(costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the path of least cost from the first cell to the last one; steps go down, right, or both.

    Args:
        costs: cost of each pair of a token and a frame, (tokens, frames).

    Returns:
        Rows and columns of the path's cells, (2, cells); the same as those of `whisper.timing.dtw_cpu`.
    """
    rows, columns = costs.shape
    sums = np.full((rows + 1) * (columns + 1), np.inf)
    sums[0] = 0
    steps = np.full(sums.size, 2, np.int8)
    flat = np.pad(costs, ((1, 0), (1, 0))).ravel()
    width = columns + 1
    for diagonal in range(2, rows + columns + 1):  # its cells do not depend on each other
        first, last = max(1, diagonal - columns), min(rows, diagonal - 1)
        start, stop = first * width + diagonal - first, last * width + diagonal - last + 1
        both = sums[start - width - 1 : stop - width - 1 : columns]
        down = sums[start - width : stop - width : columns]
        right = sums[start - 1 : stop - 1 : columns]
        is_both, is_down = (both < down) & (both < right), (down < both) & (down < right)
        steps[start:stop:columns] = np.where(is_both, 0, np.where(is_down, 1, 2))
        sums[start:stop:columns] = flat[start:stop:columns] + np.where(is_both, both, np.where(is_down, down, right))
    row, column = rows, columns
    path = []
    while row or column:
        path.append((row - 1, column - 1))
        step = 2 if row == 0 else 1 if column == 0 else steps[row * width + column]
        row, column = row - (step != 2), column - (step != 1)
    return np.array(path[::-1]).T

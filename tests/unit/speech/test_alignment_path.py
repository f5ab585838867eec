"""The path of words through the sound is openai-whisper's own."""

import numpy as np
import pytest
from whisper.timing import backtrace  # before the engine puts its own path in its place

from sourcebook.speech.engines.openai_whisper import alignment_path


def reference(costs: np.ndarray) -> np.ndarray:
    """Return the path by openai-whisper's loop, which is not compiled here."""
    rows, columns = costs.shape
    sums = np.full((rows + 1, columns + 1), np.inf)
    sums[0, 0] = 0
    steps = -np.ones((rows + 1, columns + 1), np.float32)
    for column in range(1, columns + 1):
        for row in range(1, rows + 1):
            both, down, right = sums[row - 1, column - 1], sums[row - 1, column], sums[row, column - 1]
            step = 0 if both < down and both < right else 1 if down < both and down < right else 2
            sums[row, column] = costs[row - 1, column - 1] + (both, down, right)[step]
            steps[row, column] = step
    return backtrace.py_func(steps)  # type: ignore[no-any-return]  # numba has no types


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (7, 1), (2, 3), (13, 40), (60, 300)])
@pytest.mark.parametrize("decimals", [0, 9], ids=["with equal costs", "with other costs"])
def test_the_path_is_the_reference_s(shape: tuple[int, int], decimals: int) -> None:
    costs = np.random.default_rng(sum(shape)).standard_normal(shape).round(decimals)
    np.testing.assert_array_equal(alignment_path(costs), reference(costs))

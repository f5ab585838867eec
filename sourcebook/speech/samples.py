"""Sound as engines hear it. Imported only in the child process."""

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]
"""One channel, 16,000 a second, from -1 to 1."""

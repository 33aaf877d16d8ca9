"""The kinds of arrays that signatures name: numbers as 64-bit floats, places, and yes or no."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

"""The one kind of array that signatures name: numbers as 64-bit floats."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

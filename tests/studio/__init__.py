"""Programs that walk, measure and picture the explorer; ``python -m tests.studio.NAME``."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # where a test's own modules are, as in pytest

"""Where the real data lies, and the skip for machines that do not have it."""

from pathlib import Path

import pytest

REAL_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
needs_real_data = pytest.mark.skipif(not REAL_DATA.is_dir(), reason="The real data is not at ../shared/data.")

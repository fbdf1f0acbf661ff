"""Long lists of whole numbers in stored statistics, as short texts that are read in milliseconds."""

import zlib
from array import array
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt


def pack(numbers: Iterable[int]) -> str:
    return b64encode(zlib.compress(array("q", numbers).tobytes(), 1)).decode()


def unpack(stored: str) -> Sequence[int]:
    return array("q", zlib.decompress(b64decode(stored)))


def pack_ids(ids: Sequence[int]) -> str:
    """Pack `ids` as differences, which are short where the ids are nearly in order."""
    return pack(after - before for before, after in pairwise([0, *ids]))


def unpack_ids(stored: str) -> npt.NDArray[np.int64]:
    """Return the ids that `pack_ids` packed; none of ""."""
    # NumPy adds up a million in milliseconds.
    return np.cumsum(np.asarray(unpack(stored) if stored else [], np.int64))

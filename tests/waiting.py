"""Waits for what another process brings about. A limit ends a wait that would never end; it is no promise of speed."""

import time
from collections.abc import Callable

import pytest

# A busy machine is several times slower than a quiet one.
LEAST_SECONDS = 120


def wait_until(is_so: Callable[[], bool], *, seconds: float, why: Callable[[], object], every: float = 0.1) -> None:
    """Return once `is_so` holds, looked at every so many seconds.

    Where it still does not after `seconds`, and LEAST_SECONDS, the test fails with what `why` says then.
    """
    seconds = max(seconds, LEAST_SECONDS)
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() >= deadline:
            pytest.fail(f"Waited {seconds} seconds in vain: {why()}")
        time.sleep(every)

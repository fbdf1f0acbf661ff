"""Progress bars of a replay, one per stage."""

from typing import Any, TextIO

from django.core.management.base import OutputWrapper
from tqdm import tqdm


class Progress:
    """Show a bar for the current stage."""

    def __init__(self, out: TextIO | OutputWrapper | None) -> None:
        """`out`: where the bars are written, None for nowhere."""
        self._out = out
        self._bar: tqdm[Any] | None = None

    def begin(self, stage: str, total: int) -> None:
        self.close()
        self._bar = tqdm(total=total or None, desc=stage, file=self._out, disable=self._out is None, mininterval=0.5)

    def step(self, count: int = 1) -> None:
        if self._bar is not None:
            self._bar.update(count)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

"""Progress bars of commands."""

from typing import Any, TextIO

from django.core.management.base import OutputWrapper
from tqdm import tqdm


class ProgressBars:
    """One bar at a time: that of the current stage.

    out: where bars are written, None for nowhere. unit: the text after the numbers.
    """

    def __init__(self, out: TextIO | OutputWrapper | None, unit: str = "it") -> None:
        self._out, self._unit = out, unit
        self._stage = ""
        self._bar: tqdm[Any] | None = None

    def begin(self, stage: str, total: int) -> None:
        """Begin a stage; a `total` of 0 is unknown."""
        self.close()
        hidden = self._out is None
        bar = tqdm(total=total or None, desc=stage, unit=self._unit, file=self._out, disable=hidden, mininterval=0.5)
        self._stage, self._bar = stage, bar

    def step(self, count: int = 1) -> None:
        if self._bar is not None:
            self._bar.update(count)

    def show(self, stage: str, done: int, total: int) -> None:
        """Show how much of a stage is done; a smaller number than before restarts the bar."""
        if self._bar is None or stage != self._stage or done < self._bar.n:
            self.begin(stage, total)
        if self._bar is not None:
            self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

"""Charts of a training run: its losses, and its score on the validation set."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from results.reports.base import Chart, Point, Series

STEPS = "Step"
# A curve is drawn again when it has this share more points: each drawing costs a worker a second.
REDRAWN_PER = 20
SUM = "loss"


class Measured(Protocol):
    """Measurements of a training run at one step."""

    @property
    def step(self) -> int: ...

    @property
    def losses(self) -> Mapping[str, float]: ...

    @property
    def score(self) -> float | None: ...


def curve_charts(name: str, pk: int, points: Sequence[Measured]) -> list[Chart]:
    """Return the charts of the curves of the run called `name`; a chart may have no points yet."""
    shown = points[: len(points) - len(points) % max(1, len(points) // REDRAWN_PER)]
    names = sorted({each for point in shown for each in point.losses}, key=lambda each: (each != SUM, each))
    if len(names) == 2 and SUM in names:
        # A sum of one part.
        names = [SUM]
    losses = [
        Series(each, [Point("", point.losses[each], x=point.step) for point in shown if each in point.losses])
        for each in names
    ]
    scores = [Point("", point.score, x=point.step) for point in shown if point.score is not None]
    about = f"Of {name}, until step {shown[-1].step:,}." if shown else ""
    return [
        Chart(f"training-{pk}-loss", "Training loss", about, "line", "p", "Loss", losses, x_axis=STEPS),
        Chart(
            f"training-{pk}-score",
            "Score on the validation set",
            about,
            "line",
            "share",
            "Score",
            [Series("score", scores)],
            x_axis=STEPS,
        ),
    ]

"""The pipeline of a project as a graph: boxes from left to right, and what goes along each edge.

All lengths are in SVG user units.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from results.queries.studies.pipeline import Funnel, Step
from results.reports.sections.funnel import INSTANCES

# Four columns are 1056 wide. A laptop of 1366x768 has room for 1084, beside the rail and two scroll bars of 15.
IMPORTED_WIDTH, WIDTH, HEIGHT = 96, 224, 68
GAP_X, GAP_Y = 96, 8
# How far an edge leaves its box before it turns.
TURN = 16


@dataclass(frozen=True)
class Box:
    """A box at `x`, `y`. `step`: its study; None: the dataset."""

    x: int
    y: int
    step: Step | None = None


@dataclass(frozen=True)
class Edge:
    """An edge that ends at `end_x`, `y`, and whose label is at `x`, `y`.

    `step`: the study that it leads to; None: the dataset. `not_asked`: instances that its upstream study accepted, or
    that were imported, and about which it asks nothing; None if items of different units would be compared.
    """

    path: str
    x: int
    end_x: int
    y: int
    step: Step | None
    not_asked: int | None = None


@dataclass(frozen=True)
class PipelineGraph:
    """The launched studies of a project, each at the right of its upstream study.

    Four columns and four rows stand above the fold of a laptop, with what is above and below them on the overview.

    `dataset`: the box of the dataset, None if the project has none.
    """

    width: int
    height: int
    imported: int
    boxes: Sequence[Box]
    edges: Sequence[Edge]
    dataset: Box | None
    imported_width: ClassVar[int] = IMPORTED_WIDTH
    box_width: ClassVar[int] = WIDTH
    box_height: ClassVar[int] = HEIGHT


def pipeline_graph(funnel: Funnel) -> PipelineGraph:
    """Lay out the graph of `funnel`: each box in the first free row of its column, not above its upstream box."""
    layout = _Layout({step.study.pk: step for step in funnel.steps}, funnel.imported)
    last = next((step for step in reversed(funnel.steps) if step.study.in_dataset), None)
    for step in funnel.steps:
        layout.add_study(step)
        # Its studies follow it, so the dataset takes the row of the study before them.
        if step is last:
            layout.add_dataset([each for each in funnel.steps if each.study.in_dataset])
    boxes = [*layout.boxes.values()]
    everything = [*boxes, *([layout.dataset] if layout.dataset else [])]
    width = max((box.x + WIDTH for box in everything), default=IMPORTED_WIDTH)
    height = max((box.y + HEIGHT for box in everything), default=HEIGHT)
    return PipelineGraph(width, height, funnel.imported, boxes, layout.edges, layout.dataset)


class _Layout:
    def __init__(self, steps: Mapping[int, Step], imported: int) -> None:
        self.steps, self.imported = steps, imported
        self.boxes: dict[int, Box] = {}
        self.edges: list[Edge] = []
        self.dataset: Box | None = None
        self._free_row: dict[int, int] = {}
        self._place: dict[int, tuple[int, int]] = {}

    def add_study(self, step: Step) -> None:
        upstream = self.steps.get(step.study.fed_by_id or 0)
        column, row = self._place[upstream.study.pk] if upstream else (0, 0)
        box = self._box(column + 1, row, step)
        self._place[step.study.pk] = (column + 1, box.y // (HEIGHT + GAP_Y))
        self.boxes[step.study.pk] = box
        self._connect(upstream, box, step, _not_asked(step, upstream, self.imported))

    def add_dataset(self, accepting: Sequence[Step]) -> None:
        column = max(self._place[step.study.pk][0] for step in accepting)
        self.dataset = self._box(column + 1, self._place[accepting[-1].study.pk][1], None)
        for step in accepting:
            self._connect(step, self.dataset, None, None)

    def _box(self, column: int, row: int, step: Step | None) -> Box:
        row = max(row, self._free_row.get(column, 0))
        self._free_row[column] = row + 1
        return Box(IMPORTED_WIDTH + GAP_X + (column - 1) * (WIDTH + GAP_X), row * (HEIGHT + GAP_Y), step)

    def _connect(self, upstream: Step | None, box: Box, step: Step | None, not_asked: int | None) -> None:
        origin = self.boxes[upstream.study.pk] if upstream else None
        start_x, start_y = (origin.x + WIDTH, origin.y + HEIGHT // 2) if origin else (IMPORTED_WIDTH, HEIGHT // 2)
        end_y = box.y + HEIGHT // 2
        path = f"M{start_x} {start_y}h{TURN}V{end_y}H{box.x}"
        self.edges.append(Edge(path, box.x - (GAP_X - TURN) // 2, box.x, end_y, step, not_asked))


def _not_asked(step: Step, upstream: Step | None, imported: int) -> int | None:
    counts = [step.cell.counts, *([upstream.cell.counts] if upstream else [])]
    if any(each.unit != INSTANCES for each in counts) or step.study.design.asks_about_answers:
        return None
    left = upstream.cell.left if upstream else imported
    return max(0, left - step.cell.counts.asked)

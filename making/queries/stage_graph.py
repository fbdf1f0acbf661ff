"""The stages of a pipeline as a graph: boxes from left to right. All lengths are in SVG user units."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from making.models import Pipeline
from making.pipeline_file import START, PipelineFile, read_pipeline, read_source
from making.queries.yields import StageYield, started_with

WIDTH, HEIGHT = 184, 68
GAP_X, GAP_Y = 40, 8
# How far before its box an edge turns.
TURN = 16
INSTANCES = "instances"


@dataclass(frozen=True)
class Box:
    """A box at `x`, `y`: the start or the instances, with their `count`, or a stage, with its yield."""

    name: str
    x: int
    y: int
    count: int = 0
    stage: StageYield | None = None


@dataclass(frozen=True)
class StageGraph:
    """The stages of a pipeline, each at the right of those that it reads.

    edges: each a path, and where its arrow ends.
    """

    width: int
    height: int
    boxes: Sequence[Box]
    edges: Sequence[tuple[str, int, int]]
    box_width: ClassVar[int] = WIDTH
    box_height: ClassVar[int] = HEIGHT


def stage_graph(pipeline: Pipeline, stages: Sequence[StageYield]) -> StageGraph:
    """Lay out the stages of a pipeline with their counts: each in the first free row of its column."""
    wanted = read_pipeline(pipeline.source)
    yields = {each.name: each for each in stages}
    reads = _reads(wanted)
    if pipeline.is_trial:
        # It makes no instances.
        reads.pop(INSTANCES, None)
    columns, free, places = {START: 0}, {0: 1}, {START: (0, 0)}
    boxes = [Box(START, 0, 0, started_with(pipeline))]
    for name, before in reads.items():
        column = columns[name] = 1 + max(columns[each] for each in before)
        row = max(free.get(column, 0), places[before[0]][1] if column else 0)
        free[column], places[name] = row + 1, (column, row)
        count = pipeline.candidates.filter(instance__isnull=False, stage=before[0]).count() if name == INSTANCES else 0
        boxes.append(Box(name, column * (WIDTH + GAP_X), row * (HEIGHT + GAP_Y), count, yields.get(name)))
    at = {box.name: box for box in boxes}
    edges = [
        (_path(at[each], at[name]), at[name].x, at[name].y + HEIGHT // 2) for name in reads for each in reads[name]
    ]
    width, height = max(box.x for box in boxes) + WIDTH, max(box.y for box in boxes) + HEIGHT
    return StageGraph(width, height, boxes, edges)


def _reads(wanted: PipelineFile) -> dict[str, list[str]]:
    """Return each stage, in their order, and at last the instances -> the stages that it reads, the main one first."""
    found: dict[str, list[str]] = {}
    for stage in wanted.ordered_stages:
        asked = wanted.asked.get(stage.name)
        images = asked.instances.images.values() if asked else ()
        found[stage.name] = _read([stage.of, *(read_source(text).stage for text in images)], found)
    if wanted.instances is not None:
        images = wanted.instances.images.values()
        found[INSTANCES] = _read([wanted.instances.of, *(read_source(text).stage for text in images)], found)
    return found


def _read(names: Sequence[str], known: dict[str, list[str]]) -> list[str]:
    return list(dict.fromkeys(name for name in names if name == START or name in known))


def _path(origin: Box, end: Box) -> str:
    return f"M{origin.x + WIDTH} {origin.y + HEIGHT // 2}H{end.x - TURN}V{end.y + HEIGHT // 2}H{end.x}"

"""The stages of a pipeline, drawn from left to right."""

import pytest

from making.models import Pipeline
from making.queries.stage_graph import stage_graph
from making.queries.yields import stage_yields
from tests.factories import NOON, make_project

pytestmark = pytest.mark.django_db

FILE = """name: two-kinds
start: {role: caption}
stages:
  - {name: swapped, make: "words:swap"}
  - {name: pictures, make: "diffusers:tiny", of: start, options: {checker: none}}
  - {name: again, make: "words:swap", of: swapped}
instances:
  of: again
  captions: {caption: start, negative_caption: again}
  images: {candidate: pictures, image: image}
"""


def test_each_stage_stands_at_the_right_of_what_it_reads() -> None:
    pipeline = Pipeline.objects.create(
        project=make_project(), name="two-kinds", source=FILE, by_name="test", requested_at=NOON
    )
    graph = stage_graph(pipeline, stage_yields(pipeline))
    # Columns are 184 wide and 40 apart, rows 68 high and 8 apart.
    assert {box.name: (box.x, box.y) for box in graph.boxes} == {
        "start": (0, 0),
        "swapped": (224, 0),
        "pictures": (224, 76),
        "again": (448, 0),
        "instances": (672, 0),
    }
    assert (graph.width, graph.height) == (856, 144)
    assert [path for path, _, _ in graph.edges] == [
        "M184 34H208V34H224",
        "M184 34H208V110H224",
        "M408 34H432V34H448",
        "M632 34H656V34H672",
        "M408 110H656V34H672",
    ]


def test_a_trial_makes_no_instances() -> None:
    trial = Pipeline.objects.create(
        project=make_project(), name="two-kinds", source=FILE, is_trial=True, by_name="test", requested_at=NOON
    )
    graph = stage_graph(trial, stage_yields(trial))
    assert [box.name for box in graph.boxes] == ["start", "swapped", "pictures", "again"]
    assert len(graph.edges) == 3

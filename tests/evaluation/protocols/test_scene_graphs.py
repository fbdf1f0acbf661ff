import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.protocols import BenchmarkError, get_protocol
from evaluation.scene_graphs import attribution_cases, relation_cases
from tests.evaluation.protocols.written import write


def thing(name: str, box: tuple[int, int, int, int], **more: Any) -> dict[str, Any]:
    return {"name": name, **dict(zip("xywh", box, strict=True))} | more


def scene(**things: dict[str, Any]) -> dict[str, Any]:
    return {"width": 400, "height": 200, "objects": things}


HORSE = thing(
    "horse",
    (100, 40, 150, 100),
    attributes=["brown", "wet"],
    relations=[{"name": "eating", "object": "2"}, {"name": "near", "object": "2"}, {"name": "on", "object": "3"}],
)
GRASS = thing("grass", (50, 100, 300, 90), attributes=["green", "wet"], relations=[{"name": "near", "object": "1"}])
# Its height is less than a quarter of the photo's.
FLY = thing("fly", (0, 0, 100, 49), attributes=["black"])


def test_a_relation_is_true_one_way_and_false_the_other() -> None:
    # "near" is said both ways, and the fly is too small.
    assert relation_cases({"7": scene(**{"1": HORSE, "2": GRASS, "3": FLY})}, "file") == [
        {
            "image_id": "7",
            "image_path": "7.jpg",
            # From 50 to 350 and from 40 to 190.
            "bbox_x": 50,
            "bbox_y": 40,
            "bbox_w": 300,
            "bbox_h": 150,
            "relation_name": "eating",
            "true_caption": "the horse is eating the grass",
            "false_caption": "the grass is eating the horse",
        }
    ]


def test_an_attribute_that_both_have_tells_nothing_apart() -> None:
    (case,) = attribution_cases({"7": scene(**{"1": HORSE, "2": GRASS, "3": FLY})}, "file")
    assert case["attributes"] == ["brown", "green"]
    assert case["true_caption"] == "the brown horse and the green grass"
    assert case["false_caption"] == "the green horse and the brown grass"
    # Two objects of one name are left out.
    again = thing("horse", (0, 0, 100, 50))
    assert relation_cases({"7": scene(**{"1": HORSE, "2": GRASS, "4": again})}, "file") == []


@pytest.mark.parametrize("graph", [None, [], {}, {"objects": []}, {"width": 1, "height": 1, "objects": {"1": {}}}])
def test_what_is_no_scene_graph_is_named(graph: Any) -> None:
    with pytest.raises(BenchmarkError, match="file: 7 is not a scene graph"):
        relation_cases({"7": graph}, "file")


def test_the_command_makes_both_files_of_scene_graphs_and_reads_them(tmp_path: Path) -> None:
    graphs = {"7": scene(**{"1": HORSE, "2": GRASS})}
    folder = write(tmp_path, {"val_sceneGraphs.json": json.dumps(graphs)})
    protocol = get_protocol("aro")
    assert protocol.prepare(folder, seed=1, encoders={})[:2] == [
        "visual_genome_relation.json: 1 cases of 1 scenes.",
        "visual_genome_attribution.json: 1 cases of 1 scenes.",
    ]
    blocks = list(protocol.blocks(protocol.read(folder)))
    assert [block.images for block in blocks] == [("7.jpg#xywh=50,40,300,150",)] * 2
    assert (
        protocol.prepare(folder, seed=1, encoders={})[0] == "visual_genome_relation.json already exists and was kept."
    )

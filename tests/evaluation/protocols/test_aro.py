import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evaluation.protocols import BenchmarkError, aro, get_protocol
from evaluation.word_order import Tagger
from tests.evaluation.protocols.written import evaluated, matrices, plain, write

protocol = get_protocol("aro")
RIGHT, WRONG, TIE = [[0.1, 0.2]], [[0.2, 0.1]], [[0.2, 0.2]]


def region(**fields: Any) -> dict[str, Any]:
    case = {"image_path": "7.jpg", "bbox_x": 160, "bbox_y": 120, "bbox_w": 320, "bbox_h": 240}
    captions = {"true_caption": "the horse is eating the grass", "false_caption": "the grass is eating the horse"}
    return case | captions | fields


def relations(**counts: int) -> dict[str, str]:
    cases = [region(relation_name=name.replace("_", " ")) for name, count in counts.items() for _ in range(count)]
    return {"visual_genome_relation.json": json.dumps(cases)}


def test_relations_count_once_each_without_the_symmetric_and_the_rare_ones(tmp_path: Path, monkeypatch: Any) -> None:
    folder = write(tmp_path, relations(eating=10, riding=12, on=9, next_to=11))
    block, *_ = protocol.blocks(protocol.read(folder))
    assert block.images == ("7.jpg#xywh=160,120,320,240",)
    assert block.texts == ["the grass is eating the horse", "the horse is eating the grass"]
    eating = [RIGHT] * 6 + [TIE] + [WRONG] * 3
    riding = [RIGHT] * 3 + [WRONG] * 9
    scores = matrices(*eating, *riding, *[RIGHT] * 9, *[RIGHT] * 11)
    came_out = evaluated("aro", folder, scores)
    # A tie is wrong, as the false caption comes first: 6 of 10 and 3 of 12.
    assert plain(came_out.whole) == {"VG-Relation": pytest.approx((0.6 + 0.25) / 2)}
    assert came_out.whole.cells["VG-Relation"].n == 2
    assert [(part.title, plain(part)["1 of 2"]) for part in came_out.parts] == [
        ("VG-Relation: eating", (6, 10)),
        ("VG-Relation: riding", (3, 12)),
        ("VG-Relation: on", (9, 9)),
    ]
    assert came_out.notes == ["VG-Relation is the mean over 2 relations here, and over 48 in the paper."]
    monkeypatch.setitem(aro.PUBLISHED, "VG-Relation", 2)
    assert evaluated("aro", folder, scores).notes == []


def test_pairs_of_attributes_count_from_25_cases_on(tmp_path: Path) -> None:
    cases = [region(attributes=["red", "open"])] * 25 + [region(attributes=["wet", "old"])] * 24
    folder = write(tmp_path, {"visual_genome_attribution.json": json.dumps(cases)})
    came_out = evaluated("aro", folder, matrices(*[RIGHT] * 20, *[WRONG] * 5, *[RIGHT] * 24))
    assert plain(came_out.whole) == {"VG-Attribution": pytest.approx(0.8)}
    assert came_out.whole.cells["VG-Attribution"].n == 1


OPTIONS = ["A cat naps.", "A naps cat.", "naps A cat.", "cat A naps.", "A cat naps ."]


def orders(*options: Sequence[str | None]) -> dict[str, str]:
    return {"coco_order.json": json.dumps([{"image": "1.jpg", "caption_options": each} for each in options])}


def test_an_order_is_one_of_five_and_a_tie_is_right_because_the_caption_comes_first(tmp_path: Path) -> None:
    folder = write(tmp_path, orders(OPTIONS, OPTIONS, OPTIONS, OPTIONS))
    first, tied, second, last = [[5, 1, 1, 1, 1]], [[5, 1, 1, 1, 5]], [[1, 5, 1, 1, 1]], [[2, 1, 1, 1, 3]]
    came_out = evaluated("aro", folder, matrices(first, tied, second, last))
    assert plain(came_out.whole) == {"COCO-Order": (2, 4), "COCO-Order, ties wrong": (1, 4)}
    (part,) = came_out.parts
    assert plain(part) == {
        "nouns and adjectives (1 of 2)": (3, 4),
        "other words (1 of 2)": (4, 4),
        "within threes (1 of 2)": (4, 4),
        "threes (1 of 2)": (3, 4),
    }
    chance = protocol.chance(protocol.read(folder))
    assert chance == {"COCO-Order": 0.2, "COCO-Order, ties wrong": 0.2}
    (block, *_) = protocol.blocks(protocol.read(folder))
    # Without marks, so that the last order is the caption again.
    assert block.texts == ["a cat naps", "a naps cat", "naps a cat", "cat a naps", "a cat naps"]


def test_without_a_tagger_two_orders_are_not_made_and_the_others_are_asked_alone(tmp_path: Path) -> None:
    folder = write(tmp_path, orders(["A cat.", None, None, "cat A.", ". A cat"]))
    came_out = evaluated("aro", folder, matrices([[3, 2, 4]]))
    assert plain(came_out.whole) == {"COCO-Order": None, "COCO-Order, ties wrong": None}
    assert came_out.whole.cells["COCO-Order"].reason == "Not created: there is no tagger (en_core_web_sm of spaCy)."
    (part,) = came_out.parts
    assert plain(part) == {
        "nouns and adjectives (1 of 2)": None,
        "other words (1 of 2)": None,
        "within threes (1 of 2)": (1, 1),
        "threes (1 of 2)": (0, 1),
    }


CAPTIONS = {
    "coco_karpathy_test.json": json.dumps([{"image": "1.jpg", "caption": ["A red cat naps on a couch.", "A cat."]}])
}


@pytest.mark.parametrize("tagger", [None, lambda caption: [(word, "NN") for word in caption.split()]])
def test_orders_are_made_once_and_the_same_for_the_same_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tagger: Tagger | None
) -> None:
    monkeypatch.setattr(aro, "installed_tagger", lambda: tagger)
    made = {}
    for name, seed in (("first", 1), ("again", 1), ("other", 2)):
        folder = write(tmp_path / name, CAPTIONS)
        said = protocol.prepare(folder, seed=seed, encoders={})
        assert said[0].startswith("coco_order.json: 2 captions in other orders.")
        assert said[0].endswith("no tagger (en_core_web_sm of spaCy).") == (tagger is None)
        assert said[1] == "Flickr30k-Order was not created: flickr30k_test.json is missing."
        made[name] = (folder / "coco_order.json").read_text()
        protocol.read(folder)
    assert made["first"] == made["again"] != made["other"]
    again, _ = protocol.prepare(tmp_path / "first", seed=2, encoders={})
    assert again == "coco_order.json already exists and was kept."
    assert (tmp_path / "first" / "coco_order.json").read_text() == made["first"]
    write(folder := tmp_path / "no image", {"coco_karpathy_test.json": '[{"caption": ["A cat."]}]'})
    with pytest.raises(BenchmarkError, match="Record 1: It has no image with a list of texts under caption"):
        protocol.prepare(folder, seed=1, encoders={})


def test_relations_may_be_left_out_by_name_as_the_authors_do(tmp_path: Path) -> None:
    folder = write(tmp_path, relations(eating=2, riding=12, near=1) | {"left_out_relations.txt": "riding\nhugging\n"})
    came_out = evaluated("aro", folder, matrices(RIGHT, WRONG, *[WRONG] * 12, RIGHT))
    # 1 of 2 and 1 of 1: however few there are.
    assert plain(came_out.whole) == {"VG-Relation": 0.75}
    (folder / "left_out_relations.txt").write_bytes(b"\xff")
    with pytest.raises(BenchmarkError, match=r"left_out_relations\.txt is not UTF-8 text"):
        protocol.read(folder)

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from evaluation.protocols import BenchmarkError, get_protocol
from evaluation.protocols.sugarcrepe import Choices, Items
from evaluation.result_files import RowContent
from tests.analytics.published import shared_json
from tests.evaluation.protocols.written import evaluated, matrices, plain, write
from tests.studies.real_data import REAL_DATA, needs_real_data

protocol = get_protocol("sugarcrepe")


def items(*captions: str) -> str:
    return json.dumps(
        {
            str(3 * n): {"filename": f"{n}.jpg", "caption": c, "negative_caption": f"Not {c}"}
            for n, c in enumerate(captions)
        }
    )


FILES = {"replace_obj.json": items("A cat.", "A dog.", "A hen."), "swap_att.json": items("A red cup on a blue plate.")}


def test_a_caption_must_beat_the_negative_one_and_micro_and_macro_differ(tmp_path: Path) -> None:
    first, *_ = protocol.blocks(protocol.read(write(tmp_path, FILES)))
    assert (first.images, first.texts) == (("0.jpg",), ("A cat.", "Not A cat."))
    # Right, a tie, wrong; and right.
    scores = matrices([[0.3, 0.2]], [[0.2, 0.2]], [[0.1, 0.2]], [[1, -1]])
    came_out = evaluated("sugarcrepe", tmp_path, scores)
    # 2 of 4 items; 1 of 3 and 1 of 1 by subtype.
    assert plain(came_out.whole) == {"Micro": (2, 4), "Macro": pytest.approx((1 / 3 + 1) / 2)}
    assert [(part.title, part.n, plain(part)) for part in came_out.parts] == [
        ("replace", 3, {"Micro": (1, 3)}),
        ("swap", 1, {"Micro": (1, 1)}),
        ("replace_obj", 3, {"Micro": (1, 3)}),
        ("swap_att", 1, {"Micro": (1, 1)}),
    ]
    assert came_out.notes == [
        "Missing, so not counted: replace_att.json, replace_rel.json, swap_obj.json, add_obj.json, add_att.json."
    ]


def answers(chosen: dict[str, str]) -> str:
    return json.dumps(
        {
            str(n): {"caption": c, "negative_caption": f"Not {c}", "answer": {"multiple_choice_answer": answer}}
            for n, (c, answer) in enumerate(chosen.items())
        }
    )


def test_answers_in_words_are_counted_for_each_order_and_for_both(tmp_path: Path) -> None:
    folder = write(tmp_path / "data", {"replace_obj.json": FILES["replace_obj.json"]})
    said = {
        "negative-first": {"A cat.": "A cat.", "A dog.": "Not A dog.", "A hen.": "No."},
        "positive-first": {text: text for text in ("A hen.", "A dog.", "A cat.")},
    }
    files = {f"{order}/gpt4v-replace_obj.json": answers(chosen) for order, chosen in said.items()}
    data = protocol.read(folder)
    cells = plain(protocol.tables(data, protocol.read_published(data, write(tmp_path / "model", files))).whole)
    assert cells == {
        "Micro, negative-first": (1, 3),
        "Micro, positive-first": (3, 3),
        "Micro, both orders": (1, 3),
        "Macro, negative-first": pytest.approx(1 / 3),
        "Macro, positive-first": 1.0,
        **{f"{name}, average of orders": pytest.approx(2 / 3) for name in ("Micro", "Macro")},
    }
    assert set(cells) <= set(protocol.chance(data))


def test_the_average_of_gpt_4v_is_the_mean_of_its_two_orders() -> None:
    """swap-att in gpt-4v-results/readme.md of RAIVNLab/sugar-crepe: 593 and 607 of 666, average .9009."""
    described = [RowContent(f"A {n}.", f"Not a {n}.", "swap", "att") for n in range(666)]
    correct = {"negative-first": np.arange(666) < 593, "positive-first": np.arange(666) >= 666 - 607}
    came_out = protocol.tables(Items(described, [""] * 666), Choices(correct))
    assert plain(came_out.whole)["Micro, average of orders"] == pytest.approx(0.9009, abs=0.5e-4)
    # 59 are wrong in one order only, 73 in the other only.
    assert plain(came_out.whole)["Micro, both orders"] == (534, 666)


def test_a_folder_of_one_order_is_that_order_and_an_empty_one_is_nothing(tmp_path: Path) -> None:
    data = protocol.read(write(tmp_path / "data", {"replace_obj.json": items("A cat.")}))
    one = write(tmp_path / "gpt-4v-negative-first", {"gpt4v-replace_obj.json": answers({"A cat.": "A cat."})})
    found = protocol.read_published(data, one)
    assert found is not None
    assert set(found.correct) == {"negative-first"}
    (tmp_path / "empty").mkdir()
    assert protocol.read_published(data, tmp_path / "empty") is None


def test_a_detector_of_texts_is_right_where_it_finds_the_negative_caption_likelier_made(tmp_path: Path) -> None:
    data = protocol.read(write(tmp_path, {"replace_obj.json": items("A cat.", "A dog.")}))
    results = tmp_path / "detector.csv"
    results.write_text("text_pred,label\n0.2,0\n0.7,0\n0.3,1\n0.7,1\n")
    assert plain(protocol.tables(data, protocol.read_published(data, results)).whole)["Micro"] == (1, 2)
    results.write_text("text_pred,label\n0.2,0\n0.3,1\n")
    with pytest.raises(BenchmarkError, match="is about 1 items, and there are 2"):
        protocol.read_published(data, results)


@needs_real_data
@pytest.mark.parametrize("model", ["ViT-B-32", "CLIP_COCO"])
def test_the_paper_s_items_come_out_as_the_paper_has_them(model: str) -> None:
    paper = shared_json("metrics.json")["sugarcrepe"][model]
    data = protocol.read(REAL_DATA / "bivlc")
    file = REAL_DATA / f"bivlc/results/SUGARCREPE_CORRECT_{model}.csv"
    came_out = protocol.tables(data, protocol.read_published(data, file))
    cells = plain(came_out.whole)
    assert cells["Micro"] == (paper["correct"], paper["n"])
    assert cells["Macro"] == pytest.approx(paper["macro_over_7_subtypes"] / 100, abs=0.5e-6)
    groups = paper["by_type"] | paper["by_subtype"]
    assert {part.title: plain(part)["Micro"] for part in came_out.parts} == {
        title: (group["correct"], group["n"]) for title, group in groups.items()
    }


@needs_real_data
def test_the_item_that_the_files_lack_today_is_left_out_and_named() -> None:
    data = protocol.read(REAL_DATA / "sugarcrepe")
    came_out = protocol.tables(
        data, protocol.read_published(data, REAL_DATA / "bivlc/results/SUGARCREPE_CORRECT_ViT-B-32.csv")
    )
    (note,) = came_out.notes
    assert "'A West 32nd sign under a Korea Way road sign. '" in note
    # 5,751 of 7,512 in the paper, with that item right.
    assert plain(came_out.whole)["Micro"] == (5750, 7511)
    # gpt-4v-results/readme.md in RAIVNLab/sugar-crepe: 593/666 for swap-att, negative first.
    answered = protocol.tables(data, protocol.read_published(data, REAL_DATA / "sugarcrepe/gpt-4v-negative-first"))
    (swap_att,) = [part for part in answered.parts if part.title == "swap_att"]
    assert swap_att.cells["Micro, negative-first"].percent() == Decimal("89.04")  # type: ignore[union-attr]

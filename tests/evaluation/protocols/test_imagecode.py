import json
from pathlib import Path

import pytest

from evaluation.protocols import BenchmarkError, get_protocol
from evaluation.protocols.base import score_blocks
from tests.analytics.published import shared_json
from tests.evaluation.protocols.written import evaluated, matrices, plain, write
from tests.studies.real_data import REAL_DATA, needs_real_data

protocol = get_protocol("imagecode")
SETS = {"open-images-1_a": {"5": "A deer is nearest. ", "0": "No deer."}, "MSR-VTT-b": {"9": " He looks up."}}
FILES = {"valid_data.json": json.dumps(SETS)}


def peak(place: int, *, also: int | None = None) -> list[list[float]]:
    """Return scores of ten images against a text that are highest at a place, and at another one too."""
    return [[1.0 if at in (place, also) else at / 100] for at in range(10)]


def test_the_target_must_beat_all_nine_others(tmp_path: Path) -> None:
    blocks = list(protocol.blocks(protocol.read(write(tmp_path, FILES))))
    assert [block.texts for block in blocks] == [("A deer is nearest.",), ("No deer.",), ("He looks up.",)]
    assert blocks[2].images[:2] == ["MSR-VTT-b/#0of10", "MSR-VTT-b/#1of10"]
    # Found; tied with another; not found.
    came_out = evaluated("imagecode", tmp_path, matrices(peak(5), peak(0, also=3), peak(8)))
    assert plain(came_out.whole) == {"Accuracy": (1, 3), "Video": (0, 1), "Static": (1, 2)}
    assert set(protocol.chance(protocol.read(tmp_path)).values()) == {0.1}


def test_results_say_for_every_description_whether_it_is_right(tmp_path: Path) -> None:
    data = protocol.read(write(tmp_path, FILES))
    results = tmp_path / "zero_clip.json"
    said = {"open-images-1_a": {"correct_5": 1, "clip_pred_5": 5, "correct_0": 0}, "MSR-VTT-b": {"correct_9": 1}}
    results.write_text(json.dumps(said))
    cells = plain(protocol.tables(data, protocol.read_published(data, results)).whole)
    assert cells == {"Accuracy": (2, 3), "Video": (1, 1), "Static": (1, 2)}
    del said["MSR-VTT-b"]
    results.write_text(json.dumps(said))
    with pytest.raises(BenchmarkError, match="does not say whether MSR-VTT-b, index 9, is right"):
        protocol.read_published(data, results)
    assert protocol.read_published(data, tmp_path / "scores.csv") is None


UNLABELLED = {"YouCook-c": ["Pan.", "Pan.", " No pan. "], "open-images-1_a": ["A deer."]}


def test_what_a_model_chooses_is_written_as_the_leaderboard_takes_it(tmp_path: Path) -> None:
    # Indices by folder, in the order of the descriptions: README of McGill-NLP/imagecode, under "Leaderboard".
    folder = write(tmp_path, {"test_data_unlabeled.json": json.dumps(UNLABELLED)})
    data = protocol.read(folder)
    assert [one.text for one in data] == ["Pan.", "Pan.", "No pan.", "A deer."]
    scorer = matrices(peak(3), peak(3, also=1), peak(9), peak(0))
    answers = json.loads(protocol.answers(data, score_blocks(scorer, protocol.blocks(data))), object_pairs_hook=list)
    assert answers == [("YouCook-c", [3, 1, 9]), ("open-images-1_a", [0])]
    with pytest.raises(BenchmarkError, match=r"unlabeled\.json does not say which images"):
        evaluated("imagecode", folder, scorer)


@needs_real_data
def test_the_real_descriptions_are_those_of_the_paper() -> None:
    expected = shared_json("metrics.json")["imagecode"]["valid"]
    data = protocol.read(REAL_DATA / "imagecode")
    assert len(data) == expected["descriptions"]
    assert sum(one.type == "static" for one in data) == expected["static_descriptions"]

"""What is told of result files that no prediction holds."""

from pathlib import Path

from rehearsal.replay.result_files import text_detectors_table


def test_a_detector_of_captions_is_right_where_the_natural_one_looks_less_synthetic_and_a_tie_is_wrong(
    tmp_path: Path,
) -> None:
    # Natural ones first: .1 < .9 right, .5 = .5 a tie, .7 > .2 wrong.
    rows = [(0.1, 0), (0.5, 0), (0.7, 0), (0.9, 1), (0.5, 1), (0.2, 1)]
    lines = ["text_pred,label", *(f"{probability},{label}.0" for probability, label in rows)]
    (tmp_path / "SUGARCREPE_Classifier_CLIP_x.csv").write_text("\n".join(lines) + "\n")
    assert text_detectors_table(tmp_path).rows == [["CLIP_x", 1, 3, 1 / 3]]


def test_a_folder_without_such_files_has_nothing_to_tell(tmp_path: Path) -> None:
    assert text_detectors_table(tmp_path).rows == []

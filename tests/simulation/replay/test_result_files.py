"""What is told of result files that no prediction holds."""

from pathlib import Path

from simulation.replay.result_files import detectors_table, text_detectors_table


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


def test_detectors_are_told_with_how_often_each_takes_texts_and_images_for_what_they_are(tmp_path: Path) -> None:
    # Of four captions one is taken for what it is not, of four images none. The second instance's captions are not
    # told apart.
    rows = ["0.1,0.1,0", "0.4,0.1,0", "0.9,0.9,1", "0.3,0.9,1"]
    file = tmp_path / "BiVLC_Classifier_CORRECT_x.csv"
    file.write_text("\n".join(["text_pred,img_pred,label", *rows]) + "\n")
    (row,) = detectors_table(tmp_path).rows
    assert list(row) == ["x", 2, 0.5, 0.5, 0.5, 0.75, 1.0]

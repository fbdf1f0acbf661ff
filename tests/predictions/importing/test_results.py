"""How result files become answers; what can be wrong in them is tested with `evaluation.result_files`."""

import json
from pathlib import Path

import pytest

from evaluation.result_files import ResultsFileError
from predictions.importing import Answer, get_reader

I2T, T2I = "image_to_text", "text_to_image"


def test_the_four_outcomes_of_bivlc_become_answers_to_four_questions(tmp_path: Path) -> None:
    file = tmp_path / "results.csv"
    file.write_text(
        "caption,negative_caption,type,subtype,Ipos_2T,Ineg_2T,Tpos_2I,Tneg_2I,key\n"
        "A cat.,A dog.,replace,obj,True,False,True,True,\n"
        "A cup.,A mug.,replace,obj,False,True,False,False,77\n"
    )
    first, second = get_reader("bivlc-results")(file)
    assert (first.number, second.number, first.caption_rule) == (1, 2, "bivlc-release-v1")
    assert (first.instance.caption, first.instance.key, second.instance.key) == ("A cat.", "", "77")
    assert first.answers == (
        Answer(I2T, "image", True),
        Answer(I2T, "negative_image", False),
        Answer(T2I, "caption", True),
        Answer(T2I, "negative_caption", True),
    )
    assert [answer.is_right for answer in second.answers] == [False, True, False, False]


def test_a_choice_on_sugarcrepe_becomes_an_answer_about_the_original_image(tmp_path: Path) -> None:
    file = tmp_path / "correct.csv"
    file.write_text("filename,caption,negative_caption,type,subtype,correct\n1.jpg,A cat.,A dog.,replace,obj,1\n")
    (row,) = get_reader("sugarcrepe-results")(file)
    assert (row.instance.filename, row.answers) == ("1.jpg", (Answer(I2T, "image", True),))
    assert row.caption_rule == "as-is-v1"


def test_a_refusal_to_choose_is_wrong_and_json_that_python_cannot_read_is_refused(tmp_path: Path) -> None:
    item = {"caption": "A cat.", "negative_caption": "A dog.", "filename": "1.jpg"}
    answers = {
        number: {**item, "answer": {"multiple_choice_answer": answer}}
        for number, answer in (("0", "A cat."), ("4", "I cannot tell."))
    }
    file = tmp_path / "gpt4v-replace_obj.json"
    file.write_text(json.dumps(answers))
    rows = get_reader("sugarcrepe-answers")(file)
    assert [(row.number, row.answers[0].is_right) for row in rows] == [(1, True), (2, False)]
    assert {(row.instance.type, row.instance.subtype) for row in rows} == {("replace", "obj")}
    # Too deep, and too long a number.
    for content in ('{"a":' * 100_000, '{"a":' + "1" * 5000 + "}"):
        file.write_text(content)
        with pytest.raises(ResultsFileError, match="cannot be read as JSON"):
            get_reader("sugarcrepe-answers")(file)

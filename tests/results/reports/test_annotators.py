"""Every number worked out by hand."""

import random
from dataclasses import replace
from math import sqrt
from typing import Any

import pytest

from results.reports.base import Column, Table, Undefined
from results.reports.facts import LabelSpace
from results.reports.page_tables import without_undefined
from results.reports.sections import annotators
from results.reports.sections.annotators import PersonsAnswer, annotators_table, speed_chart
from studies.kinds.base import Scale
from studies.rules import RULES, get_rule
from tests.results.reports.kinds import KINDS

ANN = PersonsAnswer("A-ANN", 1, "best_of_n", "candidate-0", "", 2.0)
MACE, DAWID_SKENE = "MACE: any image / None", "Dawid-Skene: any image / None"
GLAD = "GLAD: any image / None"
BEN = replace(ANN, annotator="A-BEN", seconds=None)


def row(table: Table, name: str) -> dict[str, Any]:
    (found,) = [row for row in table.rows if row[0] == name]
    return {column.title: cell for column, cell in zip(table.columns, found, strict=True)}


def test_each_annotator_has_answers_time_and_the_share_of_none() -> None:
    table = annotators_table(
        [ANN, replace(ANN, question=2, choice="none", seconds=5.0), replace(BEN, question=3)], KINDS
    )
    ann, ben = row(table, "A-ANN"), row(table, "A-BEN")
    assert (ann["Answers"], ann["Median seconds"], ann["None of these"]) == (2, 3.5, 0.5)
    assert (ben["Answers"], ben["Median seconds"]) == (1, Undefined("No browser has measured a time."))
    assert "Right" not in ann


def test_a_scale_is_called_one_and_shows_how_each_uses_it() -> None:
    steps = tuple("12345")
    kinds = {"rate": LabelSpace(options=steps, last=steps, scale=Scale("ordinal"))}
    said = [("A-ANN", "5"), ("A-BEN", "3"), ("A-CLEO", "4")]
    answers = [PersonsAnswer(who, question, "rate", step, "", None) for question in (1, 2) for who, step in said]
    table = annotators_table(answers, kinds)
    ann = row(table, "A-ANN")
    # The others' mean is 3.5 both times.
    assert (ann["Mean rating"], ann["Spread (SD)"], ann["Steps used"], ann["Lean"]) == (5.0, 0.0, 1, 1.5)
    assert "None of these" not in ann
    assert {"MACE: scale 1 to 5", "Dawid-Skene: scale 1 to 5"} <= set(ann)


def test_right_answers_are_counted_with_the_interval_of_as_many_as_there_are() -> None:
    known = replace(ANN, kind="image_to_text", choice="caption", right="caption")
    half = annotators_table([known, replace(known, question=2, choice="negative_caption")], KINDS)
    assert row(half, "A-ANN")["Right"] == 0.5
    assert "None of these" not in row(half, "A-ANN")
    twenty = annotators_table([replace(known, question=number, instance=number) for number in range(20)], KINDS)
    interval = row(twenty, "A-ANN")["Right, 95 % interval"]
    # Wilson's of 20 of 20: from n / (n + z^2) = 20 / 23.8415.
    assert (interval.low, interval.high) == (pytest.approx(0.8389, abs=5e-5), 1)
    assert "Accepted by others" not in row(twenty, "A-ANN")


def test_what_somebody_says_of_one_instance_is_one_draw() -> None:
    # Right on both questions about two of four instances: a variance of 1/12, worth three answers, with three degrees.
    known = replace(ANN, kind="image_to_text", choice="caption", right="caption")
    said = [
        replace(known, question=number, instance=number // 2, choice="caption" if number < 4 else "negative_caption")
        for number in range(8)
    ]
    found = row(annotators_table(said, KINDS), "A-ANN")["Right, 95 % interval"]
    half = 3.18244631 * sqrt(3.18244631**2 + 3) / (2 * (3 + 3.18244631**2))
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half))


def test_agreement_about_one_instance_is_one_draw() -> None:
    # The same on both questions about two of four instances: an interval as above.
    said = [replace(one, question=number, instance=number // 2) for number in range(8) for one in (ANN, BEN)]
    said = [replace(one, choice="none") if one.annotator == "A-BEN" and one.question > 3 else one for one in said]
    found = row(annotators_table(said, KINDS), "A-ANN")
    half = 3.18244631 * sqrt(3.18244631**2 + 3) / (2 * (3 + 3.18244631**2))
    assert (found["Agreement with others"], found["Shared questions"]) == (0.5, 8)
    limits = found["Agreement, 95 % interval"]
    assert (limits.low, limits.high) == pytest.approx((0.5 - half, 0.5 + half))


def test_what_others_accepted_of_what_somebody_wrote() -> None:
    kinds = {"write": LabelSpace(has_one_label=False)}
    wrote = PersonsAnswer("A-ANN", 1, "write", "", "", None)
    fates = ["accepted"] * 5 + ["rejected"] * 5 + [""] * 3
    answers = [replace(wrote, question=number, instance=number, became=fate) for number, fate in enumerate(fates)]
    answers.append(replace(wrote, annotator="A-BEN", question=20))
    table = annotators_table(answers, kinds)
    ann, ben = row(table, "A-ANN"), row(table, "A-BEN")
    assert (ann["Answers"], ann["Decided by others"], ann["Accepted by others"]) == (13, 10, 0.5)
    # Wilson's of 5 of 10.
    limits = ann["Accepted, 95 % interval"]
    assert (limits.low, limits.high) == pytest.approx((0.2366, 0.7634), abs=5e-5)
    assert [ben[name] for name in ("Decided by others", "Accepted by others", "Accepted, 95 % interval")] == [None] * 3


def test_whoever_says_least_often_what_others_say_comes_first() -> None:
    # On both questions two say the same and the third another thing: ann and ben 1 of 2 others each time.
    cleo = replace(ANN, annotator="A-CLEO", choice="candidate-3")
    first = [ANN, BEN, cleo]
    table = annotators_table([*first, *(replace(one, question=2) for one in first)], KINDS)
    assert [line[0] for line in table.rows] == ["A-CLEO", "A-ANN", "A-BEN"]
    found = [row(table, name) for name in ("A-CLEO", "A-ANN", "A-BEN")]
    assert [(each["Shared questions"], each["Agreement with others"]) for each in found] == [
        (2, 0.0),
        (2, 0.5),
        (2, 0.5),
    ]


def test_somebody_whose_questions_nobody_shared_is_judged_by_nothing() -> None:
    table = annotators_table([ANN], KINDS)
    reason = Undefined("Nobody else answered this annotator's questions.")
    nothing = {"Shared questions": 0, "Agreement with others": reason, MACE: reason, DAWID_SKENE: reason, GLAD: reason}
    assert row(table, "A-ANN").items() >= nothing.items()
    together = annotators_table([ANN, BEN, replace(ANN, annotator="A-DORA", question=9)], KINDS)
    assert [line[0] for line in together.rows] == ["A-ANN", "A-BEN", "A-DORA"]
    assert row(together, "A-DORA").items() >= nothing.items()


def test_each_model_tells_who_guesses_from_who_knows() -> None:
    # On 60 questions, half of them without a good image, two agree on which; the third says None every third time.
    answers = []
    for question in range(60):
        said = "none" if question % 2 else "candidate-0"
        answers += [replace(ANN, question=question, choice=said), replace(BEN, question=question, choice=said)]
        odd = "none" if question % 3 else "candidate-0"
        answers.append(replace(ANN, annotator="A-CLEO", question=question, choice=odd))
    table = annotators_table(answers, KINDS)
    ann, ben, cleo = (row(table, name) for name in ("A-ANN", "A-BEN", "A-CLEO"))
    assert cleo[MACE] < 0.5 < 0.9 < ann[MACE]
    # Of 30 with an image 10 are hit, of 30 without one 20: half of all.
    assert cleo[DAWID_SKENE] == pytest.approx(0.5)
    assert cleo[GLAD] < 0.6 < 0.9 < ann[GLAD]
    assert ann[DAWID_SKENE] == ben[DAWID_SKENE] == pytest.approx(1)


def test_different_images_are_one_label_for_the_models_and_two_for_the_comparison() -> None:
    third = replace(ANN, annotator="A-CLEO", choice="candidate-2")
    three = [(ANN, replace(BEN, choice="candidate-1"), third)]
    table = annotators_table([replace(one, question=q) for q in range(4) for of in three for one in of], KINDS)
    ann, ben = row(table, "A-ANN"), row(table, "A-BEN")
    assert ann["Agreement with others"] == ben["Agreement with others"] == 0
    assert ann[DAWID_SKENE] == ben[DAWID_SKENE] == pytest.approx(1)


def clicked(rule: str) -> dict[str, dict[str, Any]]:
    """Return the rows of three good annotators and of one who always clicks the first place, on 80 questions under a
    rule. The good ones are right on 9 of 10; where a question has a good image, it stands anywhere."""
    dice = random.Random("clicker")
    kinds = {"best_of_n": replace(KINDS["best_of_n"], compares=get_rule(rule).needs.compares)}
    options = [*(f"candidate-{number}" for number in range(4)), "none"]
    answers = []
    for question in range(80):
        best = dice.choice(options[:4]) if question % 10 else "none"
        for name in ("A-ANN", "A-BEN", "A-CLEO"):
            said = best if dice.random() < 0.9 else dice.choice([option for option in options if option != best])
            answers.append(replace(ANN, annotator=name, question=question, choice=said))
        answers.append(replace(ANN, annotator="A-DORA", question=question, choice=dice.choice(options[:4])))
    table = annotators_table(answers, kinds)
    return {str(line[0]): row(table, str(line[0])) for line in table.rows}


@pytest.mark.parametrize("rule", ["majority-v1", "majority-v2", "chosen-v1"])
def test_whoever_always_clicks_the_first_place_comes_out_below_good_annotators_by_the_options(rule: str) -> None:
    found = clicked(rule)
    for column in ("MACE: options", "Dawid-Skene: options"):
        good = [found[name][column] for name in ("A-ANN", "A-BEN", "A-CLEO")]
        assert found["A-DORA"][column] < 0.5 < 0.8 < min(good)


def test_the_columns_of_the_models_name_the_labels_that_the_rule_compares() -> None:
    columns = {rule: [title for title in clicked(rule)["A-ANN"] if "MACE" in title] for rule in RULES}
    assert columns["chosen-v1"] == ["MACE: any image / None", "MACE: options"]
    assert columns["majority-v1"] == columns["majority-v2"] == columns["collected-v1"] == ["MACE: options"]
    assert columns["unambiguous-v1"] == ["MACE: any image / None"]


def test_nobody_is_judged_by_answers_that_were_added_where_the_first_ones_differed() -> None:
    # Of ten questions ann and ben agree on seven; cleo was asked about the other three and sides with ben. Where they
    # differed says nothing of who is right, and whoever is asked there cannot but differ from somebody.
    answers = [replace(one, question=q) for q in range(7) for one in (ANN, BEN)]
    for q in range(7, 10):
        odd = replace(BEN, question=q, choice="none")
        answers += [replace(ANN, question=q), odd, replace(odd, annotator="A-CLEO", added=True)]
    table = annotators_table(answers, KINDS)
    ann, ben, cleo = (row(table, name) for name in ("A-ANN", "A-BEN", "A-CLEO"))
    assert ann["Agreement with others"] == ben["Agreement with others"] == 0.7
    assert "Needs a question with at least 3 answers" in ann[MACE].reason
    assert (cleo["Answers"], cleo["Shared questions"]) == (3, 0)
    assert "Asked only where other answers differed" in cleo["Agreement with others"].reason
    assert "Asked only where other answers differed" in cleo[DAWID_SKENE].reason
    assert [line[0] for line in table.rows] == ["A-ANN", "A-BEN", "A-CLEO"]


def test_two_answers_to_a_question_are_no_ground_to_judge_either() -> None:
    # One of five pairs clicks at random: no model can know which of the two, and none is asked.
    answers = [replace(one, question=q) for q in range(20) for one in (ANN, replace(BEN, choice="none"))]
    table = annotators_table(answers, KINDS)
    for name in ("A-ANN", "A-BEN"):
        found = row(table, name)
        assert found["Agreement with others"] == 0
        assert all(
            "Needs a question with at least 3 answers" in found[model].reason for model in (MACE, DAWID_SKENE, GLAD)
        )


def test_kinds_are_told_apart_in_rows_of_their_own() -> None:
    other = replace(ANN, kind="image_to_text", choice="caption", right="caption")
    table = annotators_table([ANN, BEN, other], KINDS)
    titles = [column.title for column in table.columns]
    told = [titles.index(title) for title in ("Annotator", "Kind", "Answers")]
    assert [tuple(line[place] for place in told) for line in table.rows] == [
        *(("A-ANN", "best_of_n", 1), ("A-BEN", "best_of_n", 1), ("A-ANN", "image_to_text", 1))
    ]


def test_a_habit_of_place_is_seen_per_annotator() -> None:
    # Ann chose the first of four places twelve times, 3 expected: chi-squared 36, p by chance under 1 in 1,000. Ben
    # chose every place three times.
    ann = [replace(ANN, question=q, position=0, positions=4) for q in range(12)]
    ben = [replace(BEN, question=q, position=q % 4, positions=4) for q in range(12)]
    table = annotators_table([*ann, *ben], KINDS, flags={"A-ANN": ["Too fast", "Habit of place"]})
    assert row(table, "A-ANN")["Position bias, p"] < 0.001
    assert [row(table, name)["Flags"] for name in ("A-ANN", "A-BEN")] == ["Too fast, Habit of place", None]
    assert row(table, "A-BEN")["Position bias, p"] == 1
    assert (
        "combined test of each annotator's own positions: p\N{NO-BREAK SPACE}<\N{NO-BREAK SPACE}0.001"
        in table.notes[-1]
    )


def test_too_many_answers_are_left_to_the_export(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annotators, "MOST_MODELLED", 1)
    ann = row(annotators_table([ANN, BEN], KINDS), "A-ANN")
    assert "exported responses" in ann[MACE].reason
    assert "exported responses" in ann[DAWID_SKENE].reason
    assert "exported responses" in ann[GLAD].reason


def test_a_chart_shows_agreement_against_speed() -> None:
    """Ann and ben agree on question 1 and differ on 2; cleo's only answer was added, and nobody timed dora."""
    ann, ben = replace(ANN, seconds=2.0), replace(BEN, seconds=8.0)
    answers = [ann, ben, replace(ann, question=2, seconds=4.0), replace(ben, question=2, choice="none", seconds=8.0)]
    answers += [replace(ANN, annotator="A-CLEO", question=2, added=True), replace(BEN, annotator="A-DORA")]
    (series,) = speed_chart(answers).series
    # Ann agrees with ben and dora on 1, and not with ben on 2; ben agrees on 1 with both.
    assert [(point.label, point.x) for point in series.points] == [
        ("A-ANN, median 3.0 s", 3.0),
        ("A-BEN, median 8.0 s", 8.0),
    ]
    assert [point.value for point in series.points] == [pytest.approx(2 / 3)] * 2
    assert speed_chart(answers).description.startswith("2 of 4 annotators.")
    assert not speed_chart([]).has_points


def test_a_column_that_nobody_has_a_number_in_becomes_a_note() -> None:
    """Ann and ben answer different questions: neither agrees with anybody, and ben was not timed."""
    table = without_undefined(annotators_table([ANN, replace(BEN, question=2)], KINDS))
    titles = [column.title for column in table.columns]
    assert "Agreement with others" not in titles
    assert "Median seconds" in titles
    assert all(len(row) == len(titles) for row in table.rows)
    (note,) = [note for note in table.notes if "Agreement with others" in note and note.startswith("Left out")]
    assert note.endswith("Nobody else answered this annotator's questions.")
    empty = Table("t", "T", [Column("A")], [])
    assert without_undefined(empty).columns == empty.columns

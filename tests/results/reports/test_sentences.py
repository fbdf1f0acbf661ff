"""The sentences of cards, from tables written by hand."""

import re
from collections.abc import Sequence
from decimal import Decimal

import pytest

from analytics.intervals.bootstrap import SMALL
from results.reports import score_sentences, sentences
from results.reports.base import Cell, Column, Range, Table, Undefined
from results.reports.sections.scores import CHANCE_OF_MODELS, CHANCE_OF_PEOPLE, CHANCE_ROW

NOTHING = Undefined("No one answered.")


def table(titles: str, *rows: Sequence[Cell], rests_on: Sequence[str] = ()) -> Table:
    return Table("any", "Any", [Column(title) for title in titles.split("|")], rows, rests_on=rests_on)


FUNNEL = "Study|Type|Instances asked"
DATASET = "Type|Subtype|Instances"
INTERVALS = "Study|Who|Score|Value|Unit|People|Instances|Questions|Answers|95 % interval"
COMPACT = "Study|Who|Group"


@pytest.mark.parametrize(
    ("funnel", "dataset", "sentence"),
    [
        ([], [], "No instances have been imported."),
        ([("imported", "all", 70)], [], "70 instances; no study has been launched yet."),
        (
            [("imported", "all", 70)],
            [("all", "all", 70)],
            "No study is chosen as the dataset, so it contains all 70 instances.",
        ),
    ],
)
def test_dataset_without_a_deciding_study(
    funnel: list[Sequence[Cell]], dataset: list[Sequence[Cell]], sentence: str
) -> None:
    assert sentences.say_dataset(table(FUNNEL, *funnel), table(DATASET, *dataset)) == sentence


def test_dataset_names_the_studies_that_accepted() -> None:
    kept = table(DATASET, ("all", "all", 17), ("add", "obj", 17), rests_on=["filter", "second"])
    said = sentences.say_dataset(table(FUNNEL, ("imported", "all", 70), ("filter", "all", 22)), kept)
    assert said == "The dataset has 17 instances that filter and second accepted, from 70 instances of the project."


def test_decisions_count_each_outcome_of_a_study() -> None:
    titles = "Type|Instances asked|Undecided|Conflicting|Accepted|Rejected"
    said = sentences.say_decisions(table(titles, ("all", 22, 2, 1, 17, 2)))
    assert said == "Of 22 instances: 17 accepted, 2 rejected, 1 conflicting, 2 undecided so far."
    said = sentences.say_decisions(table(f"{titles}|Undone", ("all", 22, 2, 1, 9, 2, 8)))
    assert said == "Of 22 instances: 9 accepted, 2 rejected, 1 conflicting, 8 undone, 2 undecided so far."


HUMANS = ("baseline", "Humans", "Group", 0.8675, "instance", 20, 500, 2000, 3000, Range(0.8405, 0.8919))
HUMANS_SAID = (
    "Humans get 86.8 % of groups right (95 % CI 84.1–89.2; 20 people, 500 instances, 2,000 questions, 3,000 answers)"
)
CLIP = ("baseline", "CLIP", "Group", 0.3, "instance", None, 500, 2000, None, Range(0.26, 0.34))
TROHN = ("baseline", "CLIP-TROHN-Img", "Group", 0.693, "instance", None, 500, 2000, None, Range(0.65, 0.73))


def test_people_are_compared_with_the_best_model_and_chance() -> None:
    intervals = table(
        INTERVALS, ("baseline", "Humans", "I2T", 0.9, "instance", 20, 500, 1000, 1500, NOTHING), HUMANS, CLIP, TROHN
    )
    said = score_sentences.say_people(table(COMPACT, ("baseline", "Random chance", 1 / 6)), intervals, {})
    assert said == (
        f"{HUMANS_SAID}. On the same questions, the best of 2 models, CLIP-TROHN-Img, gets 69.3 % (500 instances). "
        "Chance is 16.7 %."
    )


@pytest.mark.parametrize(
    ("people", "low", "said"),
    [
        (4, 0.254, "95 % CI 25.4–99.1, wide with only 4 people; 8 instances, 32 questions, 64 answers"),
        (4, 0.7, "95 % CI 70.0–99.1; 4 people, 8 instances, 32 questions, 64 answers"),
        (10, 0.254, "95 % CI 25.4–99.1; 10 people, 8 instances, 32 questions, 64 answers"),
    ],
)
def test_a_wide_interval_of_few_people_says_why(people: int, low: float, said: str) -> None:
    row = ("baseline", "Humans", "Group", 0.875, "instance", people, 8, 32, 64, Range(low, 0.991))
    assert score_sentences.say_people(table(COMPACT), table(INTERVALS, row), {}) == (
        f"Humans get 87.5 % of groups right ({said})."
    )


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([], "Nobody has answered a question with a known right answer yet."),
        (
            [("baseline", "Humans", "Right (check)", 0.5, "question", 1, 1, 2, 2, NOTHING)],
            "Humans get 50.0 % of questions right (1 person, 2 questions, 2 answers).",
        ),
        (
            [("baseline", "Humans", "Group", NOTHING, "instance", 0, 0, 0, 0, NOTHING)],
            "No score of people yet: No one answered.",
        ),
        (
            [HUMANS, ("second", *HUMANS[1:])],
            f"baseline: {HUMANS_SAID}.\nsecond: {HUMANS_SAID}.",
        ),
    ],
    ids=["nobody", "one person without an interval", "undefined", "two studies"],
)
def test_people_with_little_to_say(rows: list[Sequence[Cell]], sentence: str) -> None:
    assert score_sentences.say_people(table(COMPACT), table(INTERVALS, *rows), {}) == sentence


ABOUT = ("filter", "check", "options", "all")
RELIABILITY = (
    "Study|Kind|Labels|Answers used|Measure|Filtering|Value|95 % interval over questions|Questions|People|Remark"
)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([], "No question has several answers yet, so agreement cannot be measured."),
        ([(*ABOUT, "Fleiss' kappa", "before", NOTHING, None, 0, 0)], "No one answered."),
        (
            [
                (
                    "filter",
                    "check",
                    "options",
                    "added, each against others",
                    "Percent agreement",
                    "before",
                    0,
                    None,
                    3,
                    3,
                ),
                (*ABOUT, "Percent agreement", "before", 0.9, None, 68, 23),
                (
                    "filter",
                    "check",
                    "options",
                    "all",
                    "Krippendorff's alpha",
                    "before",
                    0.706,
                    Range(-0.1, 0.8),
                    68,
                    23,
                ),
                (*ABOUT, "Krippendorff's alpha", "after", 0.99, Range(0.9, 1.0), 40, 23),
            ],
            "Krippendorff's alpha is 0.71 (95 % CI -0.10 to 0.80; 23 people, 68 questions).",
        ),
        (
            [
                *(
                    ("filter", kind, "options", "all", "Gwet's AC1", "before", 0.5, None, 9, 3)
                    for kind in ("check", "rating")
                ),
                *(
                    ("second", kind, "options", "all", "Gwet's AC1", "before", 0.5, None, 9, 3)
                    for kind in ("check", "rating")
                ),
            ],
            "filter, say which statements about an image are true: Gwet's AC1 is 0.50 (3 people, 9 questions).\n"
            "filter, rate on a scale how well an image fits: Gwet's AC1 is 0.50 (3 people, 9 questions).\n"
            "second, say which statements about an image are true: Gwet's AC1 is 0.50 (3 people, 9 questions). "
            "The table has 1 more.",
        ),
        (
            [(*ABOUT, "Percent agreement", "before", 0.5, None, 1, 2)],
            "Percent agreement is 50.0 % (2 people, 1 question).",
        ),
    ],
    ids=["nothing", "undefined", "alpha before filtering", "four kinds", "percent agreement only"],
)
def test_agreement_names_the_most_general_coefficient_before_filtering(
    rows: list[Sequence[Cell]], sentence: str
) -> None:
    assert sentences.say_agreement(table(RELIABILITY, *((*row, "") for row in rows))) == sentence


def test_agreement_has_no_interval_where_the_table_has_none() -> None:
    row = (*ABOUT, "Krippendorff's alpha", "before", 0.76, Undefined(SMALL), 16, 4, "")
    assert sentences.say_agreement(table(RELIABILITY, row)) == (
        "Krippendorff's alpha is 0.76 (4 people, 16 questions)."
    )


def test_models_name_the_best_of_all() -> None:
    models = table(
        "Model|Type|Subtype|Instances|Group",
        *(("A", "all", "all", 2933, 0.25), ("B", "all", "all", 2933, 0.4911), ("C", "all", "all", 3, 1.0)),
        *(("B", "add", "all", 9, 1.0), ("D", "all", "all", 2933, 0.4911)),
    )
    captions = table("Model|Type|Subtype|Instances|Accuracy")
    best = "The best of 3 models, B and D, get 49.1 % of groups right"
    counted = "Instances count whether or not people answered them."
    assert score_sentences.say_models(models, captions, 2933) == f"{best} (2,933 instances). {counted}"
    assert score_sentences.say_models(models, captions, 3000) == f"{best} (2,933 of the 3,000 instances). {counted}"


def test_models_that_only_chose_captions() -> None:
    captions = table("Model|Type|Subtype|Instances|Accuracy", ("A", "all", "all", 1, 1.0))
    said = score_sentences.say_models(table("Model|Type|Subtype|Instances|Group"), captions, 9)
    assert said == "The model A gets 100.0 % of captions right (1 imported instance)."


def in_one_line(sentence: str) -> str:
    """Return a sentence whose p-values have no-break spaces."""
    return re.sub(r"\bp ([=<]) ", "p\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", sentence)


COMPARISON = "Study|Model|Score|People right|Model right|People minus model|p (Holm)|People|Instances"


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([], "No model has answered the questions that people answered yet."),
        (
            [
                *(("s", "A", "I2T", 0.51, 0.5, 0.01, 0.5, 4, 8), ("s", "A", "Group", 0.8, 0.5, 0.3, 0.0001, 4, 8)),
                ("s", "B", "Group", 0.8, 0.625, 0.175, 0.0002, 4, 8),
            ],
            "People are 17.5 percentage points better than the best of 2 models, B "
            "(p < 0.001 after Holm's correction). On average over people, they get 80.0 % and the model 62.5 % right "
            "(4 people, the same 8 instances, each counted once per person).",
        ),
        (
            [("s", "A", "Group", 0.75, 0.5, 0.25, 0.803, 4, 8), ("s", "B", "Group", 0.8, 0.5, 0.3, 0.0001, 4, 8)],
            "No clear difference between people and the best of 2 models, A. "
            "People are 25.0 percentage points better, which may be chance (p = 0.803 after Holm's correction). "
            "On average over people, they get 75.0 % and the model 50.0 % right "
            "(4 people, the same 8 instances, each counted once per person).",
        ),
        (
            [("s", "A", "Right (check)", 0.9, 0.95, -0.05, NOTHING, 4, 8)],
            "People are 5.0 percentage points worse than the model, A. "
            "On average over people, they get 90.0 % and the model 95.0 % right "
            "(4 people, the same 8 instances, each counted once per person).",
        ),
        (
            [
                ("s", "A", "Group", 0.91249, 0.8, 0.11249, NOTHING, 4, 8),
                ("t", "A", "Group", 0.7996, 0.8, -0.0004, NOTHING, 4, 8),
            ],
            "s: People are 11.2 percentage points better than the model, A. "
            "On average over people, they get 91.2 % and the model 80.0 % right "
            "(4 people, the same 8 instances, each counted once per person).\n"
            "t: People are as good as the model, A. "
            "On average over people, they get 80.0 % and the model 80.0 % right "
            "(4 people, the same 8 instances, each counted once per person).",
        ),
    ],
    ids=[
        "nothing",
        "the closest model by Group",
        "a difference by chance",
        "a better model without a test",
        "two studies and no difference",
    ],
)
def test_comparison_is_with_the_model_closest_to_people(rows: list[Sequence[Cell]], sentence: str) -> None:
    assert score_sentences.say_comparison(table(COMPARISON, *rows)) == in_one_line(sentence)


def test_disagreement_sums_the_studies() -> None:
    found = table(
        "Study|Type|A: questions|A: instances|B: questions|B: instances",
        ("x", "all", 1, 1, 2, 1),
        ("x", "add", 1, 1, 2, 1),
    )
    assert score_sentences.say_disagreement(found) == (
        "People are right and every model is wrong on 1 question; every model is right and people are wrong on 2."
    )


POSITIONS = "Kind|Position|Times chosen|Expected|p|Cohen's w"


@pytest.mark.parametrize(
    ("p", "sentence"),
    [
        (0.4301, "There is no sign of position bias (40 answers, p = 0.430)."),
        (0.0004, "Position 1 was chosen 25 times where 20.00 are expected (40 answers, p < 0.001, Cohen's w 0.25)."),
        (NOTHING, "No test yet: No one answered."),
    ],
)
def test_positions_name_the_place_that_is_chosen_too_often(p: Cell, sentence: str) -> None:
    rows = [
        ("check", "all", 40, None, p, 0.25),
        ("check", "1", 25, 20.0, None, None),
        ("check", "2", 15, 20.0, None, None),
    ]
    assert sentences.say_positions(table(POSITIONS, *rows)) == in_one_line(sentence)


def test_positions_of_several_kinds_come_apart_as_a_list() -> None:
    rows: list[Sequence[Cell]] = [
        ("image_to_text", "all", 40, None, 0.43, 0.25),
        ("text_to_image", "all", 8, None, NOTHING, None),
    ]
    said = sentences.say_positions(table(POSITIONS, *rows))
    assert said.splitlines() == [
        in_one_line(
            "Pick the caption that describes an image: There is no sign of position bias (40 answers, p = 0.430)."
        ),
        "Pick the image that a caption describes: No test yet: No one answered.",
    ]


def test_only_what_tells_a_row_from_the_others_is_named() -> None:
    found = ("all", "Gwet's AC1", "before", 0.5, None, 9, 3, "")
    rows = [("a", "check", "true: options", *found), ("b", "rating", "x", *found), ("b", "rating", "y", *found)]
    assert sentences.say_agreement(table(RELIABILITY, *rows)) == (
        "a: Gwet's AC1 is 0.50 (3 people, 9 questions).\nb, x: Gwet's AC1 is 0.50 (3 people, 9 questions).\n"
        "b, y: Gwet's AC1 is 0.50 (3 people, 9 questions)."
    )


def test_the_protocol_names_kinds_by_their_titles() -> None:
    found = table("Study|Kinds", ("a", "best_of_n"), ("b", "image_to_text, text_to_image"))
    assert sentences.say_protocol(found).splitlines() == [
        "a: pick the best image for a caption, or none.",
        "b: pick the caption that describes an image and pick the image that a caption describes.",
    ]
    alone = table("Study|Kinds", ("b", "image_to_text, text_to_image, rating, check"))
    assert sentences.say_protocol(alone) == (
        "1 study: b (pick the caption that describes an image, pick the image that a caption describes "
        "and 2 other kinds)."
    )


def test_statements_lose_their_full_stop_and_roles_their_underscores() -> None:
    titles = "Study|Kind|What was asked|Answer|Times|Share|95 % interval|Answers"
    found = table(titles, ("s", "check", "It is blue.", "True", 24, 0.8, NOTHING, 30))
    assert sentences.say_units(found) == "It is blue: most often True, 80.0 % (30 answers)."
    found = table(titles, ("s", "check", "negative_caption", "True", 24, 0.8, NOTHING, 30))
    assert sentences.say_units(found) == "negative caption: most often True, 80.0 % (30 answers)."
    titles = "Study|Kind|Image role|What was asked|Scale|Type|Step|Mean|95 % interval|Answers|People"
    rated = table(titles, ("s", "rating", "negative_image", "It fits.", "1 to 5", "all", "all", 3.5, NOTHING, 30, 3))
    said = "negative image, It fits: mean 3.50 on the scale 1 to 5 (30 answers, 3 people)."
    assert sentences.say_ratings(rated) == said


def test_times_are_medians_by_kind() -> None:
    found = table(
        "Kind|Answers timed|25 % (s)|Median (s)|75 % (s)", ("check", 53, 6.3, 9.1, 11.7), ("rating", 0, *[NOTHING] * 3)
    )
    assert sentences.say_times(found) == "The median is 9.10 s (middle half 6.30–11.70 s, 53 answers)."
    both = table(
        "Kind|Answers timed|25 % (s)|Median (s)|75 % (s)",
        *(("image_to_text", 53, 6.3, 9.1, 11.7), ("text_to_image", 8, 1, 2, 3)),
    )
    assert sentences.say_times(both) == (
        "Pick the caption that describes an image: The median is 9.10 s (middle half 6.30–11.70 s, 53 answers).\n"
        "Pick the image that a caption describes: The median is 2.00 s (middle half 1.00–3.00 s, 8 answers)."
    )


COST = "Study|Currency|Pay per session|Pay per answer|Cost without fees"


def test_studies_that_pay_nothing_have_no_wage_and_are_named_once() -> None:
    free = ("USD", Decimal(0), Decimal(0), Decimal(0), NOTHING, 0)
    rows: list[Sequence[Cell]] = [("a", "USD", Decimal(2), Decimal(0), Decimal(4), Decimal("9.5"), 2)]
    titles = f"{COST}|Hourly wage, median|Sessions timed"
    assert sentences.say_cost(table(titles, *rows, ("b", *free), ("c", *free))) == (
        "USD 4.00 for 3 studies, without fees. The median wage is USD 9.50 an hour (2 sessions). "
        "2 studies pay nothing, so no wage is computed there."
    )
    assert sentences.say_cost(table(titles, ("b", *free))) == "USD 0.00 for 1 study, without fees."


def test_lengths_name_the_texts_they_are_about() -> None:
    numbers = "Texts|Mean length|Mean sentences"
    described = table(f"Split|Sets|{numbers}", ("all", "all", 8, 24.625, 1.5))
    asked = table(f"Study|Sets|Descriptions|{numbers}", ("s", "all", "asked about", 12, 20.0, 1.0))
    assert sentences.say_language([described, asked]) == (
        "8 texts imported or accepted, with 24.63 tokens and 1.50 sentences on average."
    )
    assert sentences.say_language([asked]) == ("12 texts asked about, with 20.00 tokens and 1.00 sentences on average.")


def test_cost_is_summed_by_currency() -> None:
    titles = f"{COST}|Hourly wage, median|Sessions timed"
    rows: list[Sequence[Cell]] = [
        ("a", "USD", Decimal(2), Decimal(0), Decimal("41.20"), Decimal("9.5"), 20),
        ("b", "USD", Decimal(0), Decimal("0.1"), Decimal("0.80"), NOTHING, 0),
    ]
    rows.append(("c", "GBP", Decimal(3), Decimal(0), Decimal("3"), Decimal("8.1"), 1))
    assert sentences.say_cost(table(titles, *rows)) == (
        "USD 42.00 and GBP 3.00 for 3 studies, without fees. "
        "The median wage is USD 9.50 an hour (20 sessions). The median wage is GBP 8.10 an hour (1 session)."
    )


def test_estimates_say_which_models_passed_by_the_main_score() -> None:
    alternative = table(
        "Model|Score|Could replace an annotator",
        *(("A", "I2T", "yes"), ("A", "Group", "no"), ("B", "Group", "yes"), ("C", "Group", "yes"), ("D", "Group", "")),
    )
    powered = table(
        "Model|Score|Instances people answered|Further instances|Estimate|95 % interval",
        *(("A", "I2T", 4, 8, 0.9, Range(0.8, 0.95)), ("A", "Group", 4, 8, 1.0, NOTHING)),
        *(("B", "Group", 4, 8, 0.9, NOTHING), ("C", "Group", 4, 8, 0.801, Range(0.75, 0.85))),
    )
    passed = "By the alternative annotator test on Group, B and C could replace an annotator."
    estimate, used = "By Group, people would get about 80.1 % of the", "The estimate uses the predictions of C."
    assert score_sentences.say_estimates(alternative, [powered], 12) == (
        f"{passed} {estimate} dataset right (95 % CI 75.0–85.0). {used}"
    )
    assert score_sentences.say_estimates(alternative, [powered], 17) == (
        f"{passed} {estimate} 12 instances that a model answered right (95 % CI 75.0–85.0). {used} "
        "The dataset has 17 instances."
    )
    nobody = table("Model|Score|Could replace an annotator", ("A", "Right (check)", "no"))
    assert (
        score_sentences.say_estimates(nobody, [], 0)
        == "By the alternative annotator test on Right (check), no model could replace an annotator."
    )
    assert score_sentences.say_estimates(table("Model|Score|Could replace an annotator"), [], 0).startswith(
        "There are too few"
    )


def test_rates_ratings_and_parts_give_shares_with_their_sample() -> None:
    rates = table(
        "Kind|Answer|Type|Share|95 % interval|Answers", ("check", "none", "all", 0.123, Range(0.08, 0.17), 204)
    )
    assert sentences.say_rates(rates) == "none in 12.3 % (95 % CI 8.0–17.0; 204 answers)."
    titles = "Study|Kind|Image role|What was asked|Type|Step|Mean|Scale|95 % interval|Answers|People"
    first = ("s", "rating", "positive", "", "all", "all", 3.456, "1 to 5", Range(3.0, 4.0), 30, 3)
    assert sentences.say_ratings(
        table(titles, first, ("s", "rating", "", "", "all", "all", None, "1 to 5", None, 9, None))
    ) == ("positive: mean 3.46 on the scale 1 to 5 (95 % CI 3.00–4.00; 30 answers, 3 people).")
    assert sentences.say_ratings(table(titles, first, ("t", *first[1:]))).startswith("s: positive: mean 3.46")
    titles = "Study|Kind|What was asked|Answer|Times|Share|95 % interval|Answers"
    units = table(
        titles, ("s", "k", "left", "no", 6, 0.2, NOTHING, 30), ("s", "k", "left", "yes", 24, 0.8, NOTHING, 30)
    )
    assert sentences.say_units(units) == "left: most often yes, 80.0 % (30 answers)."
    asked = ("s", "k", "left")
    tied = table(titles, (*asked, "no", 5, 0.5, NOTHING, 10), (*asked, "yes", 5, 0.5, NOTHING, 10))
    assert sentences.say_units(tied) == "left: most often no and yes, each 50.0 % (10 answers)."


def test_preferences_name_all_that_rank_first_with_the_comparisons_of_their_kind() -> None:
    titles = "Study|Kind|Criterion|Rank|Image|Comparisons"
    found = table(
        titles,
        *(
            ("s", "k", "better", None, "all", 27),
            ("s", "k", "better", 1, "image", 27),
            ("s", "k", "better", 2, "x", 27),
        ),
        *(("s", "l", "better", None, "all", 9), ("s", "l", "better", 1, "a", 9), ("s", "l", "better", 1, "b", 9)),
    )
    assert sentences.say_preferences(found) == (
        "K: better: image ranks first (27 comparisons).\nL: better: a and b rank first equally (9 comparisons)."
    )


def test_scores_of_a_kind_of_its_own_are_no_shares_of_questions() -> None:
    rows = [
        ("b", "Humans", "Right (check)", 0.8, "question", 3, 5, 10, 30, NOTHING),
        ("b", "Humans", "Score (select)", 0.62, "question", 3, 5, 10, 30, NOTHING),
    ]
    assert score_sentences.say_people(table(COMPACT), table(INTERVALS, *rows), {}) == (
        "Right (check): Humans get 80.0 % of questions right (3 people, 10 questions, 30 answers).\n"
        "Score (select): Humans score 62.0 % (3 people, 10 questions, 30 answers)."
    )


def test_descriptions_and_their_retrieval() -> None:
    titles = "Study|Sets|Written|Accepted|Rejected|Conflicting|Undecided"
    rows: list[Sequence[Cell]] = [("s", "all", 120, 83, 20, 11, 6), ("s", "video", 60, 40, 20, 0, 0)]
    assert sentences.say_descriptions(table(titles, *rows)) == (
        "Of 120 descriptions, 83 were accepted, 20 rejected, 11 are conflicting and 6 undecided."
    )
    titles = "Study|Averaged over|Descriptions of|Answers used|Accuracy|95 % interval|People|Descriptions"
    accuracy = table(
        titles,
        *(
            ("s", "describers", "all", "all", 0.9, NOTHING, 5, 9),
            ("s", "retrievers", "all", "first", 0.6, NOTHING, 1, 1),
        ),
        ("s", "retrievers", "all", "all", 0.741, Range(0.7, 0.8), 12, 120),
    )
    assert sentences.say_retrieval(accuracy) == (
        "On average, people find the described image in 74.1 % of their answers "
        "(95 % CI 70.0–80.0; 12 people, 120 descriptions)."
    )
    writers = table(
        "Writer|Texts|Answers of others|Found", ("all", 9, 30, 0.5), ("A-1", 5, 20, 0.5), ("A-2", 4, 10, 0.5)
    )
    assert sentences.say_writers(writers) == (
        "2 people wrote 9 texts. On average over writers, others find what they are about in 50.0 % of answers "
        "(30 answers in all)."
    )


MOST_WORDS = 25
# A name of eight words, as of a model that carries its training set.
NAME = "NAME-1 NAME-2 NAME-3 NAME-4 NAME-5 NAME-6 NAME-7 NAME-8"
HUMANS_WIDE = (NAME, "Humans", "I2T", 0.8675, "instance", 9, 500, 2000, 3000, Range(0.254, 0.991))
MODELS = [(NAME, f"{NAME} {n}", "I2T", 0.5, "instance", None, 500, 2000, None, NOTHING) for n in range(5)]
LOW_ALPHA = (
    "Low because only 1 answer of 48 differs from 'NAME-1': chance alone agrees nearly as often, so look at AC1 and at "
    "the agreement on each label."
)


@pytest.mark.parametrize(
    "sentence",
    [
        score_sentences.say_people(
            table("Study|Who|I2T", *((NAME, who, 1 / 6) for who in (CHANCE_ROW, CHANCE_OF_PEOPLE, CHANCE_OF_MODELS))),
            table(INTERVALS, HUMANS_WIDE, *MODELS, ("NAME-9", *HUMANS_WIDE[1:])),
            {(NAME, "I2T"): 3},
        ),
        score_sentences.say_models(
            table("Model|Type|Subtype|Instances|Group", *((f"{NAME} {n}", "all", "all", 12, 0.5) for n in range(5))),
            table("Model|Type|Subtype|Instances|Accuracy"),
            17,
        ),
        score_sentences.say_comparison(
            table(
                COMPARISON,
                *((study, NAME, "Group", 0.8, 0.5, 0.3, 0.0001, 4, 8) for study in "ab"),
                *((study, f"{NAME} 2", "Group", 0.8, 0.5, 0.25, 0.2, 4, 8) for study in "bc"),
            )
        ),
        sentences.say_agreement(
            table(
                RELIABILITY,
                *(
                    (NAME, "check", NAME, "all", measure, "before", 0.5, Range(-0.1, 0.9), 9, 3, LOW_ALPHA)
                    for measure in ("Krippendorff's alpha (interval)", "Gwet's AC1")
                ),
            )
        ),
        score_sentences.say_estimates(
            table("Model|Score|Could replace an annotator", *((f"{NAME} {n}", "Group", "yes") for n in range(5))),
            [
                table(
                    "Model|Score|Instances people answered|Further instances|Estimate|95 % interval",
                    (NAME, "Group", 4, 8, 0.801, Range(0.75, 0.85)),
                )
            ],
            17,
        ),
        sentences.say_protocol(
            table("Study|Kinds", *((NAME, "image_to_text, text_to_image, check, rating") for _ in range(2)))
        ),
    ],
    ids=["people", "models", "comparison", "agreement", "estimates", "protocol"],
)
def test_no_sentence_has_more_than_25_words_beside_names(sentence: str) -> None:
    said = [each for line in sentence.splitlines() for each in re.split(r"(?<=[.)])\. |(?<=[a-z%\d])\. ", line)]
    lengths = {each: sum("NAME" not in word for word in each.split()) for each in said}
    assert {each: n for each, n in lengths.items() if n > MOST_WORDS} == {}

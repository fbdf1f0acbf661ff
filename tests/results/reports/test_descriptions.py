"""The tables of a study that asks which image a description is about, counted by hand.

The alphas over all sets are those of `tests/analytics/test_retrieval.py`, where the computation stands.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from analytics.language import NO_PARSER
from analytics.outcomes import Outcome
from results.reports.base import Range, Reference, Report, Undefined
from results.reports.build import report_of, report_of_study
from results.reports.cards import StudyAnswers
from results.reports.facts import (
    AnswerFacts,
    DescribedSets,
    DescriptionFacts,
    LabelSpace,
    PartFacts,
    QuestionFacts,
    StudyFacts,
    WrittenFacts,
)
from results.reports.sections import descriptions
from results.reports.sections.descriptions import description_study, found_chart, lengths_chart
from studies.kinds.base import Scale
from tests.results.reports.small import PROJECT, STEP_3, values

ANN, BEN, CLEO, DORA, EMIL = range(1, 6)
KEYS = [f"image_{place}" for place in range(1, 11)]
MOMENTS = Scale("interval", {key: float(place) for place, key in enumerate(KEYS, start=1)})
# Question: its instance, its target, whether it was accepted, and the places that ann, ben and then cleo chose.
FOUND: dict[int, tuple[int, int, bool, Sequence[int]]] = {
    11: (1, 3, True, (3, 3)),
    12: (1, 5, True, (5, 7, 5)),
    13: (2, 2, False, (2, 9, 9)),
    14: (2, 6, False, (1, 4)),
}
CATEGORIES = {1: ("static", ""), 2: ("video", "")}
DESCRIBED = {
    11: DescriptionFacts("A dog.", DORA, "train_worker", ("s",), ("s", "con"), pasted=False),
    12: DescriptionFacts("A dog runs. It runs", DORA, "train_worker", pasted=True),
    13: DescriptionFacts("It falls.", EMIL, "unseen_worker"),
    14: DescriptionFacts("It fell.", tags=(), looked_for=("s",)),
}


@pytest.fixture(autouse=True)
def _no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descriptions, "_parser", lambda: None)


def study(**changed: Any) -> StudyFacts:
    """Return a study that asks which image each of `DESCRIBED` is about; the places of videos are moments."""
    label_space = LabelSpace(KEYS, apart=[(MOMENTS, frozenset({13, 14})), (Scale(), frozenset({11, 12}))])
    questions = [
        QuestionFacts(
            *(pk, instance, "search", 0, KEYS[target - 1], Outcome.ACCEPTED if accepted else Outcome.REJECTED),
            *(KEYS[target - 1] if accepted else "", len(places), 2),
        )
        for pk, (instance, target, accepted, places) in FOUND.items()
    ]
    answers = [
        AnswerFacts(pk, person, 1, KEYS[place - 1], added=person == CLEO)
        for pk, (_, _, _, places) in FOUND.items()
        for person, place in zip((ANN, BEN, CLEO), places, strict=False)
    ]
    whole = replace(
        STEP_3,
        slug="search",
        parts=[PartFacts("search", "", 1, "", label_space)],
        questions=questions,
        answers=answers,
        answers_wanted=2,
        max_answers=3,
        categories=CATEGORIES,
        described=DESCRIBED,
        written={"static": WrittenFacts(3, 1), "video": WrittenFacts(2, 0)},
    )
    return replace(whole, **changed)


def report(of: StudyFacts | None = None) -> Report:
    categories = {**CATEGORIES, **(of.categories if of else {})}
    return report_of(replace(PROJECT, categories=categories, studies=[of or study()], models=[], dataset=""))


def rows(name: str, of: StudyFacts | None = None) -> list[list[Any]]:
    return [list(row) for row in report(of).table(name).rows]


def test_what_became_of_the_descriptions() -> None:
    # Study, sets, written, not possible, retrieved, accepted, rejected, conflicting, waiting, filtered out.
    assert [row[:10] for row in rows("descriptions")] == [
        ["search", "all", 5, 1, 4, 2, 2, 0, 1, 0.5],
        ["search", "static", 3, 1, 2, 2, 0, 0, 1, 0],
        ["search", "video", 2, 0, 2, 0, 2, 0, 0, 1],
    ]


def test_conflicting_descriptions_do_not_wait_for_answers() -> None:
    questions = [
        replace(one, outcome=Outcome.CONFLICTING, winner="") if one.id == 14 else one for one in study().questions
    ]
    found = report(study(questions=questions))
    # Of five written, 11 and 12 are accepted, 13 is rejected, 14 is conflicting, and nobody was asked about one.
    assert list(found.table("descriptions").rows[0][4:10]) == [4, 2, 1, 1, 1, pytest.approx(1 / 3)]
    (said,) = [card.sentence for card in found.cards if card.name == "descriptions"]
    assert said == "Of 5 descriptions, 2 were accepted, 1 rejected, 1 is conflicting and 1 undecided."


def test_from_what_was_undone_nothing_follows() -> None:
    first, *others = study().questions
    undone = study(
        questions=[replace(first, outcome=Outcome.UNDONE), *others],
        written={"static": WrittenFacts(2, 1), "video": WrittenFacts(2, 0)},
    )
    assert rows("descriptions", undone)[0][:10] == ["search", "all", 4, 1, 3, 1, 2, 0, 1, pytest.approx(2 / 3)]
    # Left are 12 to 14: ann is right about 12 and 13 of three, ben about none of three, cleo about 12 of two; dora's
    # was found by 2 of 3, emil's by 1 of 3.
    told = {(row[1], row[2], row[3]): [row[4], *row[6:]] for row in rows("retrieval-accuracy", undone)}
    assert told["retrievers", "all", "all"] == [pytest.approx((2 / 3 + 0 + 1 / 2) / 3), 3, 3, 8]
    assert told["describers", "all", "all"] == [pytest.approx(1 / 2), 2, 2, 6]
    assert ("retrievers", "nothing was pasted", "all") not in told
    assert rows("retrieval-agreement", undone)[0][6:] == [3, 3, 8, 3]
    assert rows("language", undone)[0][3:5] == [3, 12]
    # "con" was looked for in 11 only.
    assert [row[1:4] for row in rows("phenomena", undone)] == [["s", 1, 0]]


def test_alpha_three_ways_for_each_type_of_sets_and_for_all() -> None:
    # Static, nominal: units 3 3 and 5 7 5, which are both accepted: 1/2. Their first two answers: observed 2/4;
    # counts 2 1 1, expected (16 - 6)/12 = 5/6; 1 - (1/2)(6/5) = 2/5.
    # Video, interval: units 2 9 9 and 1 4: observed (98 + 18)/5; sum 25, squares 183, expected
    # (2 * 5 * 183 - 2 * 625)/20 = 29; 1 - (116/5)/29 = 1/5. First: observed 116/4 = 29; sum 16, squares 102,
    # expected (2 * 4 * 102 - 2 * 256)/12 = 76/3; 1 - 29 * 3/76 = -11/76.
    found = rows("retrieval-agreement")
    told = {(sets, metric, used): [value, *counts] for _, sets, metric, used, value, _, *counts in found}
    none = Undefined("There are no ratings.")
    assert told == {
        ("all", "nominal", "all"): [pytest.approx(5 / 14), 4, 4, 10, 3],
        ("all", "nominal", "asked for at first"): [pytest.approx(2 / 9), 4, 4, 8, 2],
        ("all", "nominal", "after acceptance"): [pytest.approx(1 / 2), 2, 2, 5, 3],
        ("all", "interval", "all"): [pytest.approx(23 / 116), 4, 4, 10, 3],
        ("all", "interval", "asked for at first"): [pytest.approx(-19 / 198), 4, 4, 8, 2],
        ("all", "interval", "after acceptance"): [pytest.approx(5 / 7), 2, 2, 5, 3],
        ("static", "nominal", "all"): [pytest.approx(1 / 2), 2, 2, 5, 3],
        ("static", "nominal", "asked for at first"): [pytest.approx(2 / 5), 2, 2, 4, 2],
        ("static", "nominal", "after acceptance"): [pytest.approx(1 / 2), 2, 2, 5, 3],
        ("video", "interval", "all"): [pytest.approx(1 / 5), 2, 2, 5, 3],
        ("video", "interval", "asked for at first"): [pytest.approx(-11 / 76), 2, 2, 4, 2],
        ("video", "interval", "after acceptance"): [none, 0, 0, 0, 0],
    }


def test_sets_of_four_and_of_twelve_images_stand_beside_each_other() -> None:
    keys = [f"image_{place}" for place in range(1, 13)]
    moments = Scale("interval", {key: float(place) for place, key in enumerate(keys[:4], start=1)})
    found: dict[int, tuple[int, int, Sequence[int]]] = {
        21: (1, 11, (11, 11)),
        22: (1, 12, (12, 3, 12)),
        23: (2, 4, (1, 4)),
    }
    of_two_sizes = study(
        parts=[
            PartFacts(
                "search",
                "",
                1,
                "",
                LabelSpace(keys, apart=[(moments, frozenset({23})), (Scale(), frozenset({21, 22}))]),
            )
        ],
        questions=[
            QuestionFacts(pk, instance, "search", 0, keys[target - 1], Outcome.CONFLICTING, "", len(places), 2)
            for pk, (instance, target, places) in found.items()
        ],
        answers=[
            AnswerFacts(pk, person, 1, keys[place - 1], added=person == CLEO)
            for pk, (_, _, places) in found.items()
            for person, place in zip((ANN, BEN, CLEO), places, strict=False)
        ],
        described=dict.fromkeys(found, DESCRIBED[11]),
    )
    # Nominal: 4/2 and 2/1 are observed over 7. Counts: 11 and 12 twice, 3, 1 and 4 once, squared 11: (49 - 11)/42.
    # 1 - (4/7)(42/38) = 7/19. Interval: twice 81 both ways over 2, and 9 both ways: 180/7. Sum 54, squares 556:
    # (2 * 7 * 556 - 2 * 2916)/42 = 976/21. 1 - (180/7)(21/976) = 109/244. The videos alone: one unit, 1 and 4:
    # observed 18/2; sum 5, squares 17, expected (2 * 2 * 17 - 2 * 25)/2 = 9: 1 - 9/9.
    told = {tuple(row[1:4]): row[4] for row in rows("retrieval-agreement", of_two_sizes)}
    assert told["all", "nominal", "all"] == pytest.approx(7 / 19)
    assert told["all", "interval", "all"] == pytest.approx(109 / 244)
    assert told["video", "interval", "all"] == pytest.approx(0)
    # Ann is right about 21 and 22 of three, ben about 21 and 23, cleo about 22 of one.
    assert rows("retrieval-accuracy", of_two_sizes)[0][4] == pytest.approx((2 / 3 + 2 / 3 + 1) / 3)


def test_a_study_that_accepts_nothing_has_no_agreement_after_acceptance() -> None:
    found = rows("retrieval-agreement", study(accepts=False, purpose="baseline"))
    after = {cell for row in found if row[3] == "after acceptance" for cell in row[4:6]}
    assert after == {Undefined("This study accepts nothing.")}
    used = {row[3] for row in rows("retrieval-accuracy", study(accepts=False, purpose="baseline"))}
    assert used == {"all", "asked for at first"}


def test_sets_of_one_type_stand_once() -> None:
    still = study(
        categories={1: ("static", ""), 2: ("static", "")}, parts=[PartFacts("search", "", 1, "", LabelSpace(KEYS))]
    )
    assert [row[1:4] for row in rows("retrieval-agreement", still)] == [
        ["all", "nominal", used] for used in ("all", "asked for at first", "after acceptance")
    ]


def test_accuracy_of_retrievers_and_of_describers() -> None:
    found = rows("retrieval-accuracy")
    told = {(row[1], row[2], row[3]): [row[4], *row[6:]] for row in found}
    # Ann is right about 11, 12 and 13 of four, ben about 11 of four, cleo about 12 of two.
    assert told["retrievers", "all", "all"] == [pytest.approx((3 / 4 + 1 / 4 + 1 / 2) / 3), 3, 4, 10]
    assert told["retrievers", "all", "asked for at first"] == [pytest.approx(1 / 2), 2, 4, 8]
    assert told["retrievers", "all", "after acceptance"] == [pytest.approx((1 + 1 / 2 + 1) / 3), 3, 2, 5]
    assert told["retrievers", "static", "all"] == [pytest.approx(5 / 6), 3, 2, 5]
    assert told["retrievers", "video", "all"] == [pytest.approx((1 / 2 + 0 + 0) / 3), 3, 2, 5]
    assert told["retrievers", "author also wrote for train", "all"] == [pytest.approx(5 / 6), 3, 2, 5]
    assert told["retrievers", "author did not write for train", "all"] == [pytest.approx(1 / 3), 3, 1, 3]
    # Pasted 12: ann and cleo are right, ben is not; not pasted 11: both are right.
    assert told["retrievers", "something was pasted", "all"] == [pytest.approx(2 / 3), 3, 1, 3]
    assert told["retrievers", "nothing was pasted", "all"] == [1, 2, 1, 2]
    # Dora's two were found by 4 of 5, emil's one by 1 of 3; nobody knows who wrote the last.
    assert told["describers", "all", "all"] == [pytest.approx((4 / 5 + 1 / 3) / 2), 2, 3, 8]


def test_retrieval_by_phenomenon() -> None:
    con, s = rows("phenomena")
    # With "s" question 11, found by both; without it 14, found by nobody. With "con" nothing, without it 11.
    assert [s[index] for index in (1, 2, 3, 4, 5, 7, 8, 10)] == ["s", 2, 1, 0.5, 1, 2, 0, 2]
    assert [con[index] for index in (1, 2, 3, 4, 7, 8, 10)] == ["con", 1, 0, 0, 0, 1, 2]
    assert isinstance(con[5], Undefined)


def test_what_the_descriptions_are_like() -> None:
    found = {(row[1], row[2]): row[3:] for row in rows("language")}
    # Tokens: 3, 6, 3 and 3; sentences 1, 2, 1, 1; words a dog it runs falls fell, of which falls and fell once.
    all_of_them = found["all", "asked about"]
    assert all_of_them[:3] == [4, 15, 3.75]
    assert all_of_them[4:8] == [6, 1.25, 6, 2]
    assert all_of_them[9:] == [Undefined(NO_PARSER), 0]
    assert found["static", "accepted"][:3] == [2, 9, 4.5]
    assert found["video", "accepted"][:3] == [0, 0, Undefined("There is no text.")]


def test_sets_and_descriptions_by_split_and_type() -> None:
    described = {
        ("train", "static"): DescribedSets(1, ["A dog.", "A dog runs."]),
        ("train", "video"): DescribedSets(2, ["It falls.", "It fell.", "It is down."]),
        ("valid", "video"): DescribedSets(1, ["He waves."]),
    }
    found = report_of(replace(PROJECT, described=described)).table("described-sets")
    # Split, type, sets, texts, tokens, mean length.
    assert [list(row[:6]) for row in found.rows] == [
        ["all", "all", 4, 6, 20, pytest.approx(20 / 6)],
        ["all", "static", 1, 2, 7, 3.5],
        ["all", "video", 3, 4, 13, 3.25],
        ["train", "all", 3, 5, 17, 3.4],
        ["train", "static", 1, 2, 7, 3.5],
        ["train", "video", 2, 3, 10, pytest.approx(10 / 3)],
        ["valid", "all", 1, 1, 3, 3],
        ["valid", "video", 1, 1, 3, 3],
    ]
    one = report_of(replace(PROJECT, described={("train", "static"): described["train", "static"]}))
    assert [list(row[:4]) for row in one.table("described-sets").rows] == [["train", "static", 1, 2]]


def test_the_report_of_the_study_alone_has_the_same_tables_and_others_have_none() -> None:
    alone = replace(PROJECT, categories=CATEGORIES, studies=[study()], models=[])
    names = {table.name for table in report_of_study(alone, StudyAnswers([])).tables}
    new = {"descriptions", "retrieval-agreement", "retrieval-accuracy", "phenomena", "language"}
    assert new <= names
    assert not new & {table.name for table in report_of(PROJECT).tables}
    assert not new & {table.name for table in report(study(described={}, written={})).tables}


def test_the_interval_of_alpha_is_the_one_of_the_table_of_all_studies() -> None:
    # On the first answers to sets without an order both tables tell the same coefficient. Of fewer than 20 descriptions
    # there would be no interval.
    said = [(3, 3), (5, 5), (7, 7), (1, 2), (4, 6), (8, 9)] * 4
    found = {pk: (1, 3, True, places) for pk, places in enumerate(said, 31)}
    still = study(
        categories=dict.fromkeys(found, ("static", "")),
        parts=[PartFacts("search", "", 1, "", LabelSpace(KEYS))],
        questions=[
            QuestionFacts(pk, pk, "search", 0, KEYS[2], Outcome.ACCEPTED, KEYS[2], len(places), 2)
            for pk, (_, _, _, places) in found.items()
        ],
        answers=[
            AnswerFacts(pk, person, 1, KEYS[place - 1])
            for pk, (_, _, _, places) in found.items()
            for person, place in zip((ANN, BEN), places, strict=True)
        ],
        described=dict.fromkeys(found, DESCRIBED[14]),
    )
    columns = [column.title for column in report(still).table("reliability").columns]
    (of_all,) = [row for row in rows("reliability", still) if row[3] == "Krippendorff's alpha" and row[4] == "before"]
    told = {row[3]: row[4:6] for row in rows("retrieval-agreement", still)}
    assert told["asked for at first"] == [
        of_all[columns.index("Value")],
        of_all[columns.index("95 % interval over questions")],
    ]
    assert isinstance(told["all"][1], Range)


def test_charts_count_finders_and_tokens() -> None:
    """Nobody found 14, one person 13, and two people 11 and 12; lengths are 3, 6, 3 and 3 tokens."""
    described = description_study([study()])
    assert values(found_chart(described)) == {"found by 0": 1, "found by 1": 1, "found by 2": 2}
    lengths = lengths_chart({}, described)
    assert {label: n for label, n in values(lengths).items() if n} == {"3": 3, "6": 1}
    assert lengths.references == [Reference("mean 3.8", 3.75)]
    assert not lengths_chart({}, []).has_points
    exported = lengths_chart({("test", "static"): DescribedSets(1, ["A dog."])}, described)
    assert sum(filter(None, values(exported).values())) == 1
    assert not found_chart([]).has_points

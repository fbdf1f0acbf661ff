"""Rules of eligibility: whom they keep from a study, and from which questions, by what somebody did."""

from typing import Any

import pytest

from studies.eligibility import BarredQuestions, Person, Record, get_rule

NEW = Person()
DID = Person({"train": Record(answered=3)})
NOBODY_ANSWERED = Person({"train": Record()})


def scored(right: int, known: int) -> Person:
    """Somebody who was right in `right` of `known` answers, and gave one more that nobody can tell of."""
    return Person({"test": Record(answered=known + 1, known=known, right=right)})


SEVEN_OF_TEN = {"study": "test", "right": 7, "of": 10}
NINE_TENTHS = {"study": "test", "at_least": 0.9, "answers": 10, "by": "right_answers"}
FOUR_FIFTHS = {"study": "test", "at_least": 0.8, "answers": 5, "by": "acceptance"}


def sat(*sittings: tuple[int, int]) -> Person:
    """Somebody who gave so many answers in each sitting, so many of them right."""
    known, right = sum(known for known, _ in sittings), sum(right for _, right in sittings)
    return Person({"test": Record(known, known=known, right=right, sittings=sittings)})


def retrieved(accepted: int, rejected: int) -> Person:
    """Somebody of whose answers as many were accepted and rejected, and all of whose right ones are known."""
    return Person({"test": Record(40, known=30, right=30, accepted=accepted, rejected=rejected)})


@pytest.mark.parametrize(
    ("rule", "given", "person", "refused"),
    [
        ("in_study", {"study": "train"}, NEW, True),
        ("in_study", {"study": "train"}, NOBODY_ANSWERED, True),
        ("in_study", {"study": "train"}, DID, False),
        ("in_study", {"study": "other"}, DID, True),
        ("not_in_study", {"study": "train"}, NEW, False),
        ("not_in_study", {"study": "train"}, NOBODY_ANSWERED, False),
        ("not_in_study", {"study": "train"}, DID, True),
        ("not_in_study", {"study": "other"}, DID, False),
        ("in_group", {"group": "test split"}, NEW, True),
        ("in_group", {"group": "test split"}, Person(groups=frozenset({"train split"})), True),
        ("in_group", {"group": "test split"}, Person(groups=frozenset({"train split", "test split"})), False),
        ("qualified", SEVEN_OF_TEN, NEW, True),
        ("qualified", SEVEN_OF_TEN, scored(7, 10), False),
        ("qualified", SEVEN_OF_TEN, scored(6, 10), True),
        ("qualified", SEVEN_OF_TEN, scored(9, 9), True),
        # Who answered more needs the same share: 7 of 10 is 13.3 of 19 and 14 of 20.
        ("qualified", SEVEN_OF_TEN, scored(13, 19), True),
        ("qualified", SEVEN_OF_TEN, scored(14, 20), False),
        # 12 of 20 are too few in all; one sitting of 7 of 10 is enough, whichever it was, and one of 6 of 9 is not.
        ("qualified", SEVEN_OF_TEN, sat((10, 5), (10, 7)), False),
        ("qualified", SEVEN_OF_TEN, sat((10, 7), (10, 5)), False),
        ("qualified", SEVEN_OF_TEN, sat((10, 6), (10, 6)), True),
        ("qualified", SEVEN_OF_TEN, sat((10, 5), (9, 7)), True),
        # What belongs together but was cut in two.
        ("qualified", SEVEN_OF_TEN, sat((5, 4), (5, 3)), False),
        ("accuracy", NINE_TENTHS, NEW, False),
        ("accuracy", NINE_TENTHS, scored(0, 9), False),
        ("accuracy", NINE_TENTHS, scored(0, 10), True),
        # By hand, with z^2 = 3.8415: the upper end of 7 of 10 is (8.9207 + 2.4325) / 13.8415 = 0.892, as Newcombe's
        # tables and every calculator have it, and that of 8 of 10 is 0.943.
        ("accuracy", NINE_TENTHS, scored(7, 10), True),
        ("accuracy", NINE_TENTHS, scored(8, 10), False),
        # That of 24 of 30 is 0.905, that of 23 of 30 is 0.882.
        ("accuracy", NINE_TENTHS, scored(24, 30), False),
        ("accuracy", NINE_TENTHS, scored(23, 30), True),
        # 5 of 10 reaches up to 0.763; of the right answers nobody asks here.
        ("accuracy", FOUR_FIFTHS, retrieved(5, 5), True),
        ("accuracy", FOUR_FIFTHS | {"at_least": 0.75}, retrieved(5, 5), False),
        ("accuracy", FOUR_FIFTHS, retrieved(0, 4), False),
        ("accuracy", FOUR_FIFTHS, retrieved(0, 5), True),
        ("accuracy", FOUR_FIFTHS, scored(0, 10), False),
        ("not_author", {}, Person(answers=frozenset({4})), False),
        ("not_same_instance", {"study": "train"}, Person({"train": Record(1, instances=frozenset({8}))}), False),
    ],
)
def test_who_may_take_part(rule: str, given: dict[str, Any], person: Person, refused: bool) -> None:
    assert get_rule(rule).refuses(person, given) is refused


@pytest.mark.parametrize(
    ("rule", "given", "person", "barred"),
    [
        ("not_author", {}, NEW, BarredQuestions()),
        ("not_author", {}, Person(answers=frozenset({4, 7})), BarredQuestions(answers=frozenset({4, 7}))),
        (
            "not_same_instance",
            {"study": "train"},
            Person({"train": Record(2, instances=frozenset({8, 9})), "other": Record(1, instances=frozenset({1}))}),
            BarredQuestions(instances=frozenset({8, 9})),
        ),
        (
            "not_same_instance",
            {"study": "train"},
            Person({"other": Record(1, instances=frozenset({1}))}),
            BarredQuestions(),
        ),
        ("in_study", {"study": "train"}, DID, BarredQuestions()),
    ],
)
def test_who_is_asked_what(rule: str, given: dict[str, Any], person: Person, barred: BarredQuestions) -> None:
    assert get_rule(rule).bars(person, given) == barred


def test_what_two_rules_bar_is_barred() -> None:
    both = BarredQuestions(instances=frozenset({1})) | BarredQuestions(instances=frozenset({2}), answers=frozenset({3}))
    assert both == BarredQuestions(frozenset({1, 2}), frozenset({3}))
    assert (bool(both), bool(BarredQuestions())) == (True, False)

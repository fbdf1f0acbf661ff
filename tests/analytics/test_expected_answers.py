"""What a careful person answers, against distributions written out by hand."""

import pytest

from analytics.expected_answers import ComparedAnswer, agreement_test, is_comparable, label_chance, low_agreement_p


def test_the_answers_of_others_predict_an_answer() -> None:
    # Two people agree with .75: so does a third with the one who answered.
    assert label_chance("yes", {"yes": 1}, options=2, agreement=0.75) == pytest.approx(0.75)
    assert label_chance("no", {"yes": 1}, options=2, agreement=0.75) == pytest.approx(0.25)
    # The weight of equal shares is (1 - .75) / (.75 - .5) = 1: (2 + .5) / (3 + 1).
    assert label_chance("yes", {"yes": 2, "no": 1}, options=2, agreement=0.75) == pytest.approx(2.5 / 4)
    # Five options, agreement .6: the weight is .4 / .4 = 1; an answer that nobody gave gets .2 / 3.
    assert label_chance("e", {"a": 2}, options=5, agreement=0.6) == pytest.approx(0.2 / 3)


def test_where_people_agree_by_chance_every_label_is_as_likely() -> None:
    assert label_chance("a", {"a": 3}, options=4, agreement=0.2) == 0.25
    assert not is_comparable(ComparedAnswer("a", {"a": 3}, 4, 0.2))
    assert not is_comparable(ComparedAnswer("a", {}, 4, 0.9))
    assert is_comparable(ComparedAnswer("a", {"a": 3}, 4, 0.3))


def test_the_probability_of_little_agreement_is_that_of_each_question_multiplied() -> None:
    # One other person each, agreement .75, skill .5: the same answer has the chance .5 + .5 x (.75 - .5) = .625.
    differing = [ComparedAnswer("no", {"yes": 1}, 2, 0.75)] * 4
    assert low_agreement_p(differing, skill=0.5) == pytest.approx(0.375**4)
    # At most one of four agrees.
    one = [*differing[:3], ComparedAnswer("yes", {"yes": 1}, 2, 0.75)]
    assert low_agreement_p(one, skill=0.5) == pytest.approx(0.375**4 + 4 * 0.625 * 0.375**3)
    # With skill 1, as others do; with skill 0, at random.
    assert low_agreement_p(differing, skill=1.0) == pytest.approx(0.25**4)
    assert low_agreement_p(differing, skill=0.0) == pytest.approx(0.5**4)


def test_the_sums_of_shares_are_exact() -> None:
    # Others answered yes, yes, no: the shares are 2/3 and 1/3, the chances .625 and .375 with skill 1.
    two = [ComparedAnswer("no", {"yes": 2, "no": 1}, 2, 0.75), ComparedAnswer("yes", {"yes": 2, "no": 1}, 2, 0.75)]
    # At most 1/3 + 2/3 of agreement: all but twice "yes".
    assert low_agreement_p(two, skill=1.0) == pytest.approx(1 - 0.625**2)


def test_the_interval_of_agreement() -> None:
    # One other person each: agreement is binomial, and 20 of 40 has the exact interval 33.8 to 66.2 % (Clopper and
    # Pearson 1934).
    answers = [ComparedAnswer(label, {"yes": 1}, 2, 0.9) for label in ["yes", "no"] * 20]
    test = agreement_test(answers, skill=0.5)
    assert (test.answers, test.agreed, test.by_chance) == (40, 0.5, 0.5)
    assert test.expected == pytest.approx(0.9)
    assert (test.low, test.high) == pytest.approx((0.338, 0.662), abs=0.002)

"""What a blind baseline learns, and that it is scored on nothing that it has seen."""

import random
from collections.abc import Callable, Sequence
from math import log

import numpy as np
import pytest
from scipy.sparse import csr_array

from evaluation.blind.accuracy import BlindAccuracy, accuracy_of
from evaluation.blind.cases import Case, digest_of, groups_of
from evaluation.blind.features import Features
from evaluation.blind.logistic_regression import FOLDS, CannotFit, folds_of, scores_of_fold, weights_of
from evaluation.blind.ngrams import Ngrams
from evaluation.blind.pictures import PictureFeatures
from predictions.blind_baselines import local_source
from predictions.image_sets.embeddings import ColourAndGradient
from tests.evaluation.blind.drawn import drawn, names_of

WORDS = "bird boat cup dog fence goat hat kite lamp moon nest oven pear road shoe tree vase wall".split()  # noqa: SIM905 (one line of words)


def case(name: str, shares: str, right: str = "a", wrong: str = "b") -> Case:
    return Case(name, frozenset(shares.split()), {"right": right, "wrong": wrong}, "right")


def outcome(cases: list[Case], features: Features) -> BlindAccuracy:
    folds = folds_of(cases)
    scores: dict[int, dict[str, float]] = {}
    for fold in range(FOLDS):
        scores |= scores_of_fold(cases, folds, fold, features)
    return accuracy_of([(case, scores[place]) for place, case in enumerate(cases)])


def caption(dice: random.Random) -> str:
    return f"A {dice.choice(WORDS)} and a {dice.choice(WORDS)} by the {dice.choice(WORDS)}."


def test_the_weights_are_those_of_a_hand() -> None:
    # The example of the docstring: 7 x sigmoid(-w) - sigmoid(w) = w / ln 3 at w = ln 3.
    comparisons = np.array([[1.0]] * 7 + [[-1.0]])
    assert weights_of(csr_array(comparisons), strength=log(3)) == pytest.approx([log(3)], abs=1e-5)
    # Twice as large, features are seen as of size one: half the weight gives the same scores.
    assert weights_of(csr_array(2 * comparisons), strength=log(3)) == pytest.approx([log(3) / 2], abs=1e-5)
    # What contradicts itself or shows nothing teaches nothing.
    assert weights_of(csr_array(np.array([[1.0, 0.0], [-1.0, 0.0]]))).tolist() == [0.0, 0.0]
    assert weights_of(csr_array(np.zeros((3, 2)))).tolist() == [0.0, 0.0]


def test_what_shares_anything_by_way_of_others_is_one_group() -> None:
    cases = [case("1", "x"), case("2", "y"), case("3", "x z"), case("4", "z"), case("5", "q")]
    assert groups_of(cases) == [0, 1, 0, 0, 2]


def test_folds_hold_whole_groups_are_even_and_do_not_follow_the_order() -> None:
    cases = [case(f"{number:02}", f"instance-{number // 2}") for number in range(40)]
    folds = folds_of(cases)
    assert [folds[place] for place in range(0, 40, 2)] == [folds[place] for place in range(1, 40, 2)]
    assert [folds.count(fold) for fold in range(FOLDS)] == [8] * FOLDS
    order = random.Random(4).sample(range(40), 40)
    assert folds_of([cases[place] for place in order]) == [folds[place] for place in order]
    assert digest_of(cases) == digest_of([cases[place] for place in order])


def test_a_question_is_scored_by_a_model_that_has_seen_nothing_of_its_group() -> None:
    # The right answer of each pair of questions has a word of its own, which tells nothing about any other.
    cases = [case(f"{at:02}", f"i{at // 2}", f"right{at // 2}", f"wrong{at // 2}") for at in range(20)]

    class OwnWord(Ngrams):
        """Sees only which whole text it is."""

        def rows(self, options: Sequence[str]) -> csr_array:
            known = [f"{word}{number}" for number in range(10) for word in ("right", "wrong")]
            return csr_array(np.array([[float(text == each) for each in known] for text in options]))

    found = outcome(cases, OwnWord())
    assert found.share == 0.5
    # Learnt by heart it would be right every time.
    folds = [0] * 10 + [1] * 10
    seen = scores_of_fold(cases + cases, folds + [2] * 20, 2, OwnWord())
    assert all(scores["right"] > scores["wrong"] for scores in seen.values())


def test_questions_that_all_hang_together_cannot_be_scored() -> None:
    with pytest.raises(CannotFit, match="two groups of questions"):
        folds_of([case("1", "x"), case("2", "x")])


def test_where_all_options_are_the_same_or_nothing_is_learnt_they_tie() -> None:
    assert outcome([case(f"{at}", f"i{at}", "a", "a") for at in range(4)], Ngrams()).share == 0.5
    cases = [case("1", "x"), case("2", "y")]
    assert scores_of_fold(cases, [0, 0], 0, Ngrams()) == {place: {"right": 0.0, "wrong": 0.0} for place in (0, 1)}


def test_texts_that_give_the_right_answer_away_are_found_out() -> None:
    dice = random.Random(1)
    # As SugarCrepe's: the wrong caption is the right one with something added.
    texts = [caption(dice) for _ in range(120)]
    cases = [case(f"{at:03}", f"i{at}", text, f"{text[:-1]} with a ribbon.") for at, text in enumerate(texts)]
    found = outcome(cases, Ngrams())
    assert (found.share or 0) > 0.95
    assert (found.low or 0) > 0.9


def test_texts_that_cannot_tell_leave_it_near_chance() -> None:
    dice = random.Random(2)
    found = outcome([case(f"{at:03}", f"i{at}", caption(dice), caption(dice)) for at in range(200)], Ngrams())
    assert (found.low or 1) < 0.5 < (found.high or 0)
    assert found.chance == 0.5


def test_where_each_text_is_right_once_and_wrong_once_it_is_chance_to_the_point() -> None:
    """As in BiVLC, whose two images make either caption right: that is what balance is for."""
    dice = random.Random(3)
    cases = []
    for at in range(60):
        text = caption(dice)
        other = f"{text[:-1]} with a ribbon."
        cases += [case(f"{at:02}i", f"i{at}", text, other), case(f"{at:02}n", f"i{at}", other, text)]
    assert outcome(cases, Ngrams()).share == 0.5


def test_scores_do_not_follow_the_order_of_questions() -> None:
    dice = random.Random(5)
    cases = [case(f"{at:02}", f"i{at}", caption(dice), caption(dice)) for at in range(20)]
    order = dice.sample(range(20), 20)
    there, here = (
        scores_of_fold(some, folds_of(some), 0, Ngrams()) for some in (cases, [cases[place] for place in order])
    )
    assert {order[place]: scores for place, scores in here.items()} == there


def test_both_ends_capitals_and_white_space_of_a_text_are_seen() -> None:
    features = Ngrams()
    features.fit(["A cat.", "A dog.", "a cat", "a dog", "a  cat", "A  dog"])
    rows = features.rows(["A cat.", "A cat", "a cat.", "A  cat."]).toarray()
    assert len({tuple(row) for row in rows}) == 4
    texts = ["a  cat sat", "a cat  sat"]
    features.fit([*texts, "the  cat sat", "the cat  sat"])
    first, second = features.rows(texts).toarray()
    assert (first != second).any()


def test_pictures_that_are_made_otherwise_are_found_out() -> None:
    def told(is_blue: Callable[[str], bool]) -> BlindAccuracy:
        source = local_source(ColourAndGradient(), lambda name: drawn(name, blue=is_blue(name)))
        return outcome(cases, PictureFeatures(source))

    dice = random.Random(6)
    right, wrong = names_of("right", 40), names_of("wrong", 40)
    cases = [case(f"{at:02}", f"i{at}", *pair) for at, pair in enumerate(zip(right, wrong, strict=True))]
    # Wrong pictures are bluer, whatever else they show.
    assert (told(wrong.__contains__).share or 0) > 0.9
    cannot = told(lambda name: dice.random() < 0.5)
    assert (cannot.low or 1) < 0.5 < (cannot.high or 0)

"""Measures how often the intervals of `analytics` hold what they promise: human scores, tests, agreement, preferences.

    python -m benchmarks.coverage [--rounds 100]

People have an ability, questions a difficulty, both normal on the logit scale; a person is right with the probability
of their sum. The truth is the mean over all people and questions that could have been drawn. Each line is one design;
`rounds` data sets are drawn from it. A share of 95 in 100 of 100 data sets may come out as 91 or 99.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray

from analytics.bootstrap import agreement_over_both, agreement_over_units
from analytics.coefficients import KrippendorffAlpha
from analytics.comparison import mcnemar, people_against
from analytics.people import score_of_people
from analytics.preferences import Comparison, Preferences, preferences

SEED = 2026
PEOPLE, QUESTIONS, SPREADS, SHARES = (5, 20), (25, 100), (0.0, 0.5, 1.0), (0.6, 0.75, 0.9, 0.97)
DIFFICULTIES = (0.0, 1.0)
# The quantile of the normal distribution that leaves 2.5 in 100 on either side.
NORMAL = 1.959964
NODES, WEIGHTS = hermegauss(60)


@dataclass(frozen=True)
class Design:
    """`people` with `questions` each, the same ones or (as in BiVLC) ones of their own; spreads on the logit scale."""

    people: int
    questions: int
    ability: float
    difficulty: float
    share: float
    same: bool

    def draw(self, rounds: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Return rounds x people x questions: who was right."""
        ability = rng.normal(0, self.ability, (rounds, self.people, 1))
        of_whom = 1 if self.same else self.people
        difficulty = rng.normal(0, self.difficulty, (rounds, of_whom, self.questions))
        middle = logit_of_mean(self.share, float(np.hypot(self.ability, self.difficulty)))
        right: NDArray[np.bool_] = rng.random((rounds, self.people, self.questions)) < probability(
            middle + ability + difficulty
        )
        return right

    def who_and_what(self) -> tuple[list[int], list[int]]:
        """Return whose answer each is and to which question, in the order of a drawn data set."""
        who = np.repeat(np.arange(self.people), self.questions)
        what = np.arange(self.people * self.questions)
        return who.tolist(), (what % self.questions if self.same else what).tolist()

    def __str__(self) -> str:
        whose = "same" if self.same else "own"
        return f"{self.people:>6}{self.questions:>11}{whose:>7}{self.ability:>9}{self.difficulty:>12}{self.share:>7.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100, help="How many data sets are drawn from each design.")
    rounds = parser.parse_args().rounds
    show_scores(rounds)
    show_rejections(rounds)
    show_agreement(max(rounds // 2, 1))
    show_preferences(rounds)


def designs() -> Iterator[Design]:
    for people, questions, ability, difficulty, share, same in product(
        PEOPLE, QUESTIONS, SPREADS, DIFFICULTIES, SHARES, (False, True)
    ):
        yield Design(people, questions, ability, difficulty, share, same)


def coverage_of_scores(design: Design, rounds: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return how often the interval of the human score holds the truth, and how wide it is on average."""
    who, what = design.who_and_what()
    limits = np.array([_limits(right, who, what) for right in design.draw(rounds, rng)])
    held = (limits[:, 0] <= design.share) & (design.share <= limits[:, 1])
    return float(held.mean()), float((limits[:, 1] - limits[:, 0]).mean())


def _limits(right: NDArray[np.bool_], who: list[int], what: list[int]) -> tuple[float, float]:
    found = score_of_people(right.ravel(), who, what)
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def show_scores(rounds: int) -> None:
    rng = np.random.default_rng(SEED)
    print(f"Human scores, {rounds} data sets each: 95 % intervals for other people and questions")
    print(
        f"{'people':>6}{'questions':>11}{'whose':>7}{'ability':>9}{'difficulty':>12}{'truth':>7}{'held':>8}{'width':>7}"
    )
    shares = []
    for design in designs():
        held, width = coverage_of_scores(design, rounds, rng)
        shares.append(held)
        print(f"{design}{held:>8.3f}{width:>7.3f}", flush=True)
    print(f"least {min(shares):.3f}, mean {np.mean(shares):.3f}")


def rejections(design: Design, rounds: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return how often people are told apart from a model that is as good: by t over people, and by McNemar's test."""
    who, what = design.who_and_what()
    ours = theirs = 0
    for right in design.draw(rounds, rng):
        model = rng.random(max(what) + 1) < design.share
        its = model[np.array(what)]
        found, naive = people_against(right.ravel(), its, who, what).p, mcnemar(right.ravel(), its).p
        ours += found is not None and found < 0.05
        theirs += naive is not None and naive < 0.05
    return ours / rounds, theirs / rounds


def show_rejections(rounds: int) -> None:
    rng = np.random.default_rng(SEED)
    print("\nPeople against a model that is as good, at a nominal 5 %: how often the test tells them apart")
    print(
        f"{'people':>6}{'questions':>11}{'whose':>7}{'ability':>9}{'difficulty':>12}{'truth':>7}{'t':>8}{'McNemar':>9}"
    )
    for people, ability, same in product(PEOPLE, SPREADS, (False, True)):
        design = Design(people, 100, ability, 0.0, 0.8, same)
        ours, theirs = rejections(design, 4 * rounds, rng)
        print(f"{design}{ours:>8.3f}{theirs:>9.3f}", flush=True)


def coverage_of_alpha(people: int, each: int, spread: float, rounds: int, rng: np.random.Generator) -> list[float]:
    """Return how often alpha's intervals over questions, and over annotators and questions, hold the truth.

    500 questions with two labels, 7 in 10 of one; `each` of `people` answer one, rightly as often as their ability.
    """
    right = float(WEIGHTS @ probability(1.5 + spread * NODES) / WEIGHTS.sum())
    first = 0.7 * right + 0.3 * (1 - right)
    truth = 1 - right * (1 - right) / (first * (1 - first))
    held = np.zeros(2)
    for _ in range(rounds):
        abilities, labels = probability(1.5 + rng.normal(0, spread, people)), rng.random((500, 1)) < 0.7
        ratings = np.where(rng.random((500, people)) < abilities, labels, ~labels).astype(np.float64)
        ratings[np.argsort(rng.random((500, people)), axis=1) >= each] = np.nan
        alpha = KrippendorffAlpha()
        over_units = agreement_over_units(alpha, ratings, rng=rng, resamples=300, method="BCa")
        for index, found in enumerate((over_units, agreement_over_both(alpha, ratings))):
            held[index] += found.low is not None and found.high is not None and found.low <= truth <= found.high
    return [float(share) for share in held / rounds]


def show_agreement(rounds: int) -> None:
    rng = np.random.default_rng(SEED)
    print(f"\nKrippendorff's alpha, 500 questions, {rounds} data sets each: how often 95 % intervals hold the truth")
    print(f"{'people':>6}{'answers each':>14}{'ability':>9}{'over questions':>16}{'over both':>11}")
    for people, each, spread in product(PEOPLE, (2, 5), SPREADS[::2]):
        over_units, over_both = coverage_of_alpha(people, each, spread, rounds, rng)
        print(f"{people:>6}{each:>14}{spread:>9}{over_units:>16.3f}{over_both:>11.3f}", flush=True)


@dataclass(frozen=True)
class Tastes:
    """Questions that show `at_once` of four items to three of `people`, with some ties; spreads of people's and of
    questions' own tastes on the scale of the scores."""

    people: int
    at_once: int
    of_person: float
    of_question: float

    def draw(self, questions: int, people: int, rng: np.random.Generator) -> Preferences:
        own, found = rng.normal(0, self.of_person, (people, 4)), []
        for question in range(questions):
            scores = np.array([0.5, 0.2, -0.2, -0.5]) + rng.normal(0, self.of_question, 4)
            shown = np.sort(rng.choice(4, self.at_once, replace=False))
            for person in rng.choice(people, 3, replace=False):
                of_shown = (scores + own[person])[shown]
                worths = np.exp([*of_shown, of_shown.mean() - 0.5])
                said = int(rng.choice(self.at_once + 1, p=worths / worths.sum()))
                preferred = "abcd"[shown[said]] if said < self.at_once else None
                found.append(Comparison(tuple("abcd"[each] for each in shown), preferred, question, int(person)))
        return preferences(found, "abcd")


def coverage_of_preferences(tastes: Tastes, rounds: int, rng: np.random.Generator) -> list[float]:
    """Return how often intervals of scores hold the truth: as if all answers were independent, over 100 questions, and
    over people too. The truth is what very many people say of very many questions."""
    large = [[each.score or 0.0 for each in tastes.draw(2_000, 500, rng).standings] for _ in range(5)]
    truth = np.mean(large, axis=0).tolist()
    held, n = np.zeros(3), 0
    for _ in range(rounds):
        for each, true in zip(tastes.draw(100, tastes.people, rng).standings, truth, strict=True):
            if each.score is None or each.error is None or not each.over_questions or not each.over_both:
                continue
            n += 1
            held[0] += abs(each.score - true) < NORMAL * each.error
            for place, found in enumerate((each.over_questions, each.over_both), start=1):
                held[place] += found.low is not None and found.high is not None and found.low <= true <= found.high
    return [float(share) for share in held / n]


def show_preferences(rounds: int) -> None:
    rng = np.random.default_rng(SEED)
    print(f"\nScores of four items, 100 questions of three answers, {rounds} data sets each: how often each held")
    print(
        f"{'people':>6}{'at once':>9}{'taste':>8}{'questions':>11}"
        f"{'independent':>13}{'over questions':>16}{'over both':>11}"
    )
    for people, at_once, (of_person, of_question) in product(PEOPLE, (2, 4), ((0.0, 0.0), (0.0, 1.0), (0.5, 0.7))):
        shares = coverage_of_preferences(Tastes(people, at_once, of_person, of_question), rounds, rng)
        independent, over_questions, over_both = shares
        print(
            f"{people:>6}{at_once:>9}{of_person:>8}{of_question:>11}"
            f"{independent:>13.3f}{over_questions:>16.3f}{over_both:>11.3f}",
            flush=True,
        )


def probability(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = 1 / (1 + np.exp(-logits))
    return found


def logit_of_mean(share: float, spread: float) -> float:
    """Return the middle of a normal distribution of logits whose mean probability is `share`."""
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        if WEIGHTS @ probability(middle + spread * NODES) / WEIGHTS.sum() < share:
            low = middle
        else:
            high = middle
    return low


if __name__ == "__main__":
    main()

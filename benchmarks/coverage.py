"""Measure how often intervals of `analytics` contain the truth.

    python -m benchmarks.coverage [--rounds 100] [--only scores]

Covers scores, tests, agreement, preferences and estimates. People have an ability and instances a difficulty, both
normal on the logit scale; a person is right with the probability of their sum. The truth is the mean over all people
and instances that could have been drawn. Each line is one design; `rounds` data sets are drawn from it. With 100 data
sets, a true share of 95 % may come out as 91 or 99.

Widths are multiples of the width of a normal interval that knows the true standard deviation of the estimate, which
follows from the design (`Design.spread`).
"""

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray

from analytics.agreement import estimate
from analytics.coefficients import KrippendorffAlpha
from analytics.comparison import compare_people, mcnemar
from analytics.intervals.bootstrap import agreement_over_both, agreement_over_units, interval_of
from analytics.intervals.clustered_means import clustered_mean
from analytics.intervals.expected_widths import expected_share
from analytics.intervals.prediction_powered_inference import PredictionPowered, prediction_powered_mean
from analytics.people import score_of_people
from analytics.preferences import Comparison, Limits, Preferences, preferences
from analytics.ratings import code

SEED = 2026
PEOPLE, INSTANCES, SPREADS, SHARES = (5, 20), (25, 100), (0.0, 0.5, 1.0), (0.6, 0.75, 0.9, 0.97)
DIFFICULTIES = (0.0, 1.0, 1.5)
# Share right, and correlation of answers by person and by question -> the spreads that produce them.
PLANNED = {
    (0.9, 0.05, 0.0): (0.732, 0.0),
    (0.9, 0.05, 0.1): (0.849, 1.145),
    (0.9, 0.3, 0.0): (2.073, 0.0),
    (0.97, 0.05, 0.0): (1.106, 0.0),
    (0.97, 0.05, 0.1): (1.403, 1.777),
    (0.97, 0.2, 0.0): (2.085, 0.0),
    (0.97, 0.3, 0.0): (2.682, 0.0),
    (0.97, 0.5, 0.0): (4.269, 0.0),
}
NORMAL = 1.959964
NODES, WEIGHTS = hermegauss(60)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


@dataclass(frozen=True)
class Design:
    """One design of a study, with spreads on the logit scale.

    people, instances: each of `people` answers questions about `instances`, the same ones or (as in BiVLC) their own.
    per_instance: questions about each, equally difficult. answers: people per shared question, 0 for all.
    """

    people: int
    instances: int
    ability: float
    difficulty: float
    share: float
    same: bool
    per_instance: int = 1
    answers: int = 0

    def draw(self, rounds: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Return rounds x answers: which are right."""
        chances = self.chances(rounds, rng)
        right: NDArray[np.bool_] = rng.random(chances.shape) < chances
        return right

    def chances(self, rounds: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return rounds x answers: the probability that each is right."""
        ability = rng.normal(0, self.ability, (rounds, self.people, 1))
        of_whom = 1 if self.same else self.people
        difficulty = rng.normal(0, self.difficulty, (rounds, of_whom, self.instances))
        middle = logit_of_mean(self.share, float(np.hypot(self.ability, self.difficulty)))
        chances = probability(middle + ability + np.repeat(difficulty, self.per_instance, axis=2))
        return chances[:, self.given]

    @property
    def given(self) -> NDArray[np.bool_]:
        """Return people x questions: who answers what. If not all do, questions rotate over people."""
        questions = self.instances * self.per_instance
        if not self.answers:
            return np.ones((self.people, questions), dtype=np.bool_)
        turn = np.arange(self.people)[:, np.newaxis] - np.arange(questions) * self.answers
        return turn % self.people < self.answers

    def columns(self) -> tuple[list[int], list[int], list[int]]:
        """Return person, question and instance of each answer, in the order of a data set."""
        who, what = np.nonzero(self.given)
        question = what if self.same else what + who * self.instances * self.per_instance
        return who.tolist(), question.tolist(), (question // self.per_instance).tolist()

    def spread(self, tries: int = 1) -> float:
        """Return the true standard deviation of the mean over answers, each a share right of `tries`."""
        who, what, about = (np.array(column) for column in self.columns())
        middle = logit_of_mean(self.share, float(np.hypot(self.ability, self.difficulty)))
        chances = probability(middle + self.ability * NODES[:, np.newaxis] + self.difficulty * NODES)
        of_answer = float(WEIGHTS @ (chances * (1 - chances)) @ WEIGHTS) / tries
        of_pair, of_person, of_instance = (
            float(each) - self.share**2
            for each in (
                WEIGHTS @ chances**2 @ WEIGHTS,
                WEIGHTS @ (chances @ WEIGHTS) ** 2,
                (WEIGHTS @ chances) ** 2 @ WEIGHTS,
            )
        )
        # Everybody gives equally many answers, so all have equal weight. Next: the probability that two answers share a
        # person, an instance, or both.
        same_person, same_instance, same_pair = (
            float((np.unique(column, return_counts=True)[1] ** 2).sum()) / what.size**2
            for column in (who, about, who * (about.max() + 1) + about)
        )
        variance = of_answer / what.size + same_pair * of_pair
        variance += (same_person - same_pair) * of_person + (same_instance - same_pair) * of_instance
        return float(np.sqrt(variance))

    def __str__(self) -> str:
        whose = "same" if self.same else "own"
        return (
            f"{self.people:>6}{self.instances:>11}{self.per_instance:>6}{self.answers or 'all':>9}{whose:>7}"
            f"{self.ability:>9}{self.difficulty:>12}{self.share:>7.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100, help="How many data sets are drawn from each design.")
    parser.add_argument("--only", choices=TABLES, nargs="*", default=list(TABLES), help="Which tables to print.")
    asked = parser.parse_args()
    for name in asked.only:
        TABLES[name](asked.rounds)


def designs() -> Iterator[Design]:
    for people, instances, ability, difficulty, share, same in product(
        PEOPLE, INSTANCES, SPREADS, DIFFICULTIES, SHARES, (False, True)
    ):
        yield Design(people, instances, ability, difficulty, share, same)
    yield from several_questions()


def several_questions() -> Iterator[Design]:
    """Yield designs with several questions per instance, as in BiVLC's human baseline; also without dependence."""
    for difficulty, share, ability, instances, each, answers in product(
        DIFFICULTIES, SHARES, SPREADS, (25, 50), (2, 4), (0, 3)
    ):
        yield Design(20, instances, ability, difficulty, share, True, each, answers)


def equal_people() -> Iterator[Design]:
    """Yield those of `several_questions` in which people do not differ, for coefficients."""
    return (each for each in several_questions() if not each.ability and each.share in (0.75, 0.9))


# Measured statistic -> coverage, mean width of the intervals, and width of one that knows the spread.
Measured = Callable[[Design, int, np.random.Generator], tuple[float, float, float]]


def coverage_of_scores(design: Design, rounds: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return coverage and mean width of the human score's interval, and the width with known spread."""
    columns = design.columns()
    found = [score_of_people(right, *columns) for right in design.draw(rounds, rng)]
    return _coverage([(each.low, each.high) for each in found], design.share, design.spread())


def coverage_of_means(design: Design, rounds: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """As `coverage_of_scores`, for the share of all answers, such as how often a statement is called true."""
    who, _, about = design.columns()
    found = [clustered_mean(right, who, about) for right in design.draw(rounds, rng)]
    return _coverage([(each.low, each.high) for each in found], design.share, design.spread())


def coverage_of_ratings(design: Design, rounds: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """As `coverage_of_scores`, for the mean of ratings from 1 to 5: 1 plus the number right of four tries."""
    who, _, about = design.columns()
    ratings = 1 + rng.binomial(4, design.chances(rounds, rng))
    found = [clustered_mean(each, who, about, bounds=(1, 5)) for each in ratings]
    return _coverage([(each.low, each.high) for each in found], 1 + 4 * design.share, 4 * design.spread(tries=4))


def _coverage(limits: Sequence[Sequence[float | None]], truth: float, spread: float) -> tuple[float, float, float]:
    """limits: of each data set. An undefined interval covers nothing and has no width."""
    low, high = np.array(limits, dtype=np.float64).T
    held = float(((low <= truth) & (truth <= high)).mean())
    return held, float(np.nanmean(high - low)), 2 * NORMAL * spread


HEAD = (
    f"{'people':>6}{'instances':>11}{'each':>6}{'answers':>9}{'whose':>7}{'ability':>9}{'difficulty':>12}{'truth':>7}"
)


def show_scores(rounds: int) -> None:
    _show("Human scores", designs(), coverage_of_scores, rounds)


def show_means(rounds: int) -> None:
    _show("Shares of answers", several_questions(), coverage_of_means, rounds)


def show_ratings(rounds: int) -> None:
    _show("Mean ratings, 1 to 5", several_questions(), coverage_of_ratings, rounds)


def _show(name: str, of: Iterable[Design], measured: Measured, rounds: int) -> None:
    """Print coverage and width by design and by group of designs."""
    rng, groups = np.random.default_rng(SEED), dict[str, list[tuple[float, float]]]()
    print(f"\n{name}, {rounds} data sets each, seed {SEED}: 95 % intervals for other people and instances")
    print(f"{HEAD}{'held':>8}{'width':>7}{'of oracle':>11}")
    for design in of:
        held, width, oracle = measured(design, rounds, rng)
        groups.setdefault(_group(design), []).append((held, width / oracle))
        print(f"{design}{held:>8.3f}{width:>7.3f}{width / oracle:>11.2f}", flush=True)
    print(f"{name:<60}{'designs':>8}{'least':>7}{'mean':>7}{'< .93':>7}{'width':>7}{'widest':>8}{'> 1.15':>8}")
    for group, found in groups.items():
        shares, widths = np.array(found).T
        print(
            f"{group:<60}{shares.size:>8}{shares.min():>7.3f}{shares.mean():>7.3f}{(shares < 0.93).sum():>7}"
            f"{widths.mean():>7.2f}{widths.max():>8.2f}{(widths > 1.15).sum():>8}",
            flush=True,
        )


def _group(design: Design) -> str:
    each = "several questions" if design.per_instance > 1 else "one question"
    alike = ", no dependence" if not (design.ability or design.difficulty) else ""
    return f"{design.people} people, {each}{alike}, share {'.97' if design.share > 0.9 else 'up to .90'}"


def rejections(design: Design, rounds: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return how often people differ significantly from an equally good model: by our test, and by McNemar's."""
    ours, theirs, columns = 0, 0, design.columns()
    for right, its in _against_a_model(design, rounds, rng):
        found, naive = compare_people(right, its, *columns).p, mcnemar(right, its).p
        ours += found is not None and found < 0.05
        theirs += naive is not None and naive < 0.05
    return ours / rounds, theirs / rounds


def _against_a_model(
    design: Design, rounds: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    what = np.array(design.columns()[1])
    for right in design.draw(rounds, rng):
        model = rng.random(int(what.max()) + 1) < design.share
        yield right, model[what]


def coverage_of_differences(design: Design, rounds: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """As `coverage_of_scores`, for the difference between people and an equally good model."""
    columns = design.columns()
    found = [compare_people(right, its, *columns) for right, its in _against_a_model(design, rounds, rng)]
    # The model answers every question once, regardless of the number of people.
    times = np.unique(columns[1], return_counts=True)[1] / len(columns[1])
    of_model = design.share * (1 - design.share) * float((times**2).sum())
    return _coverage([(each.low, each.high) for each in found], 0.0, float(np.sqrt(design.spread() ** 2 + of_model)))


def show_differences(rounds: int) -> None:
    _show("People against a model that is as good", several_questions(), coverage_of_differences, rounds)


def show_rejections(rounds: int) -> None:
    rng = np.random.default_rng(SEED)
    print(
        f"\nPeople against a model that is as good, {rounds} data sets each: how often a test at 5 % finds a difference"
    )
    print(f"{HEAD}{'test':>8}{'McNemar':>9}")
    for people, ability, share, same in product(PEOPLE, SPREADS, (0.8, 0.95), (False, True)):
        design = Design(people, 100, ability, 0.0, share, same)
        ours, theirs = rejections(design, rounds, rng)
        print(f"{design}{ours:>8.3f}{theirs:>9.3f}", flush=True)


def show_plans(rounds: int) -> None:
    """Print planned width beside mean width, for answers with the assumed correlation."""
    rng = np.random.default_rng(SEED)
    print(f"\nPlanned widths, {rounds} data sets each. icc: of people, and of questions")
    print(f"{'people':>6}{'each':>6}{'truth':>7}{'icc':>11}{'planned':>9}{'came':>8}{'ratio':>7}")
    for (share, icc, of_questions), people, each in product(PLANNED, (3, 5, 10, 20), (25, 100)):
        same = of_questions > 0
        planned = expected_share(
            people, each, people if same else 1, share=share, icc=icc, icc_of_questions=of_questions
        ).width
        design = Design(people, each, *PLANNED[share, icc, of_questions], share, same)
        came = coverage_of_scores(design, rounds, rng)[1]
        print(
            f"{people:>6}{each:>6}{share:>7.2f}{icc:>6.2f}{of_questions:>5.2f}"
            f"{planned:>9.3f}{came:>8.3f}{(planned or 0) / came:>7.2f}",
            flush=True,
        )


def coverage_of_alpha(people: int, each: int, spread: float, rounds: int, rng: np.random.Generator) -> list[float]:
    """Return the coverage of alpha's intervals over questions, and over annotators and questions.

    500 questions with two labels, 7 in 10 of one; `each` of `people` answer one, with the accuracy of their ability.
    """
    right = float(WEIGHTS @ probability(1.5 + spread * NODES))
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


def coverage_of_clustered_alpha(design: Design, rounds: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """As `coverage_of_scores`, for alpha over instances and people of equal ability.

    Two labels, 7 in 10 of one; an answer is right as often as the design says.
    """
    who, what, _ = design.columns()
    questions = design.instances * design.per_instance
    clusters, found = (np.arange(questions) // design.per_instance).tolist(), []
    for right in design.draw(rounds, rng):
        labels = rng.random(questions) < 0.7
        ratings = np.full((questions, design.people), np.nan)
        ratings[what, who] = labels[what] == right
        coded = code(ratings)
        alpha = estimate(KrippendorffAlpha(), coded)
        each = interval_of(alpha, KrippendorffAlpha(), coded, rng=rng, method="BCa", clusters=clusters)
        found.append((alpha.value, each.low, each.high))
    values = np.array([value for value, *_ in found], dtype=np.float64)
    return _coverage([limits for _, *limits in found], _alpha_of(design), float(np.nanstd(values)))


def _alpha_of(design: Design) -> float:
    middle = logit_of_mean(design.share, design.difficulty)
    chances = probability(middle + design.difficulty * NODES)
    apart = float(WEIGHTS @ (chances * (1 - chances)))
    first = 0.7 * design.share + 0.3 * (1 - design.share)
    return 1 - apart / (first * (1 - first))


def show_clustered_agreement(rounds: int) -> None:
    rng = np.random.default_rng(SEED)
    print(f"\nKrippendorff's alpha over instances, {rounds} data sets each: how often 95 % intervals hold the truth")
    print(f"{HEAD}{'held':>8}{'width':>7}{'of oracle':>11}")
    for design in equal_people():
        held, width, oracle = coverage_of_clustered_alpha(design, rounds, rng)
        print(f"{design}{held:>8.3f}{width:>7.3f}{width / oracle:>11.2f}", flush=True)


def show_agreement(rounds: int) -> None:
    rng = np.random.default_rng(SEED)
    print(f"\nKrippendorff's alpha, 500 questions, {rounds} data sets each: how often 95 % intervals hold the truth")
    print(f"{'people':>6}{'answers each':>14}{'ability':>9}{'over questions':>16}{'over both':>11}")
    for people, each, spread in product(PEOPLE, (2, 5), SPREADS[::2]):
        over_units, over_both = coverage_of_alpha(people, each, spread, rounds, rng)
        print(f"{people:>6}{each:>14}{spread:>9}{over_units:>16.3f}{over_both:>11.3f}", flush=True)


@dataclass(frozen=True)
class PreferenceDesign:
    """Preference questions that show `at_once` of four items to three of `people`, with some ties.

    Spreads of people's and instances' own tastes are on the scale of the scores. `per_instance`: questions about each.
    """

    people: int
    at_once: int
    of_person: float
    of_instance: float
    per_instance: int = 1

    def draw(self, instances: int, people: int, rng: np.random.Generator) -> Preferences:
        own, found = rng.normal(0, self.of_person, (people, 4)), []
        for instance in range(instances):
            scores = np.array([0.5, 0.2, -0.2, -0.5]) + rng.normal(0, self.of_instance, 4)
            for question in range(self.per_instance):
                shown = np.sort(rng.choice(4, self.at_once, replace=False))
                for person in rng.choice(people, 3, replace=False).tolist():
                    preferred = self._preferred((scores + own[person])[shown], shown, rng)
                    items = tuple("abcd"[each] for each in shown)
                    found.append(Comparison(items, preferred, (instance, question), person, instance))
        return preferences(found, "abcd")

    def _preferred(self, scores: NDArray[np.float64], shown: NDArray[np.int64], rng: np.random.Generator) -> str | None:
        worths = np.exp([*scores, scores.mean() - 0.5])
        said = int(rng.choice(self.at_once + 1, p=worths / worths.sum()))
        return "abcd"[shown[said]] if said < self.at_once else None


def coverage_of_preferences(
    tastes: PreferenceDesign, rounds: int, rng: np.random.Generator, instances: int = 100
) -> tuple[list[float], list[float]]:
    """Return the coverage of score intervals: over independent answers, instances, and people too.

    Also the mean width of the latter two as a multiple of one that knows the spread of scores. The truth is what very
    many people say of very many instances.
    """
    large = [[each.score or 0.0 for each in tastes.draw(2_000, 500, rng).standings] for _ in range(5)]
    truth = np.mean(large, axis=0)
    scored = [found for _ in range(rounds) if (found := tastes.draw(instances, tastes.people, rng)).reason is None]
    scores, errors = (
        np.array([[getattr(each, name) for each in one.standings] for one in scored]) for name in ("score", "error")
    )
    held, widths = [float((np.abs(scores - truth) < NORMAL * errors).mean())], []
    oracle = 2 * NORMAL * scores.std(axis=0)
    for name in ("over_questions", "over_both"):
        ends = np.array([[_ends(getattr(each, name)) for each in one.standings] for one in scored])
        low, high = ends[..., 0], ends[..., 1]
        held.append(float(((low <= truth) & (truth <= high)).mean()))
        widths.append(float(np.nanmean((high - low) / oracle)))
    return held, widths


def _ends(limits: Limits | None) -> tuple[float, float]:
    if limits is None or limits.low is None or limits.high is None:
        return float("nan"), float("nan")
    return limits.low, limits.high


def show_preferences(rounds: int) -> None:
    rng = np.random.default_rng(SEED)
    print(
        f"\nScores of four items, 100 questions of three answers, {rounds} data sets each: how often each "
        f"contained the truth"
    )
    print(
        f"{'people':>6}{'at once':>9}{'each':>6}{'taste':>8}{'instances':>11}"
        f"{'independent':>13}{'over instances':>16}{'over both':>11}{'of oracle':>11}"
    )
    for people, at_once, each, (of_person, of_instance) in product(
        PEOPLE, (2, 4), (1, 2, 4), ((0.0, 0.0), (0.0, 1.0), (0.5, 0.7))
    ):
        tastes = PreferenceDesign(people, at_once, of_person, of_instance, each)
        held, widths = coverage_of_preferences(tastes, rounds, rng, 100 // each)
        print(
            f"{people:>6}{at_once:>9}{each:>6}{of_person:>8}{of_instance:>11}"
            f"{held[0]:>13.3f}{held[1]:>16.3f}{held[2]:>11.3f}{widths[0 if not of_person else 1]:>11.2f}",
            flush=True,
        )


@dataclass(frozen=True)
class EstimateDesign:
    """`labelled` instances that people are right on with probability `share`, and `further` ones.

    The model is right with probability `model`; on the share `copied` of instances this depends on what people find
    hard.
    """

    labelled: int
    further: int
    share: float
    model: float
    copied: float

    def draw(self, rng: np.random.Generator) -> PredictionPowered:
        n = self.labelled + self.further
        hard = rng.random(n)
        models = np.where(rng.random(n) < self.copied, hard, rng.random(n)) < self.model
        right = (hard[: self.labelled] < self.share).astype(np.float64)
        said = dict(enumerate(models.astype(np.float64).tolist()))
        return prediction_powered_mean(right, range(self.labelled), said)


def coverage_of_estimates(design: EstimateDesign, rounds: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return the coverage of the estimate, that of people alone, and how often there is no interval."""
    found = [design.draw(rng) for _ in range(rounds)]
    held = [each.low is not None and each.high is not None and each.low <= design.share <= each.high for each in found]
    alone = [
        each.alone_low is not None and each.alone_high is not None and each.alone_low <= design.share <= each.alone_high
        for each in found
    ]
    return float(np.mean(held)), float(np.mean(alone)), float(np.mean([each.low is None for each in found]))


def show_estimates(rounds: int) -> None:
    rng = np.random.default_rng(SEED)
    print(
        f"\nPrediction-powered estimates, 300 further instances, {rounds} data sets each: how often intervals "
        f"contained the truth"
    )
    print(f"{'labelled':>8}{'people':>8}{'model':>8}{'copied':>8}{'held':>8}{'alone':>8}{'none':>8}")
    for labelled, share, model, copied in product((20, 44, 100), (0.8, 0.9, 0.97, 0.99), (0.85, 0.97), (0.3, 0.9)):
        shares = coverage_of_estimates(EstimateDesign(labelled, 300, share, model, copied), rounds, rng)
        cells = "".join(f"{each:>8.3f}" for each in shares)
        print(f"{labelled:>8}{share:>8.2f}{model:>8.2f}{copied:>8}{cells}", flush=True)


TABLES = {
    "scores": show_scores,
    "means": show_means,
    "ratings": show_ratings,
    "differences": show_differences,
    "rejections": show_rejections,
    "plans": show_plans,
    "agreement": lambda rounds: show_agreement(max(rounds // 2, 1)),
    "alpha": show_clustered_agreement,
    "preferences": show_preferences,
    "estimates": show_estimates,
}


def probability(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = 1 / (1 + np.exp(-logits))
    return found


def logit_of_mean(share: float, spread: float) -> float:
    """Return the centre of a normal distribution of logits whose mean probability is `share`."""
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        if WEIGHTS @ probability(middle + spread * NODES) < share:
            low = middle
        else:
            high = middle
    return low


if __name__ == "__main__":
    main()

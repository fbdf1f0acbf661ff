"""Measure what the quality desk does to a study in which a third of the people are careless.

    python -m benchmarks.quality_desk [--seeds 20] [--careless 0.333]

In each simulated study five people answer each survey. The rules of `analytics.flags` flag sessions; here, and only
here, every flag is upheld: the session is excluded, and somebody else from the same crowd, of which a third is careless
too, takes the place (the policy `replace_excluded`). This is repeated until nobody is flagged, at most six times.

Printed are the human score and Krippendorff's alpha before and after, beside the truth: the same surveys, answered by
the honest people of the crowd alone, as the mean of four such studies. Intervals are over seeds (Student's t).
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import mean, stdev

from analytics.agreement import estimate
from analytics.coefficients import KrippendorffAlpha
from analytics.people import score_of_people
from analytics.scores import t_quantile
from analytics.session_comparison import SentRecord
from analytics.study_flags import find_flags
from simulation.session_profiles import CHEATERS, HONEST, KINDS, Profile, StudyKind, Survey, draw_survey, sit

SEATS, SURVEYS, ROUNDS, TRUTHS = 5, 12, 6, 4
# Most honest people are typical; the others are of the types that look odd.
TYPICAL = 0.6
CHOICES = ("pick", "yes-no", "retrieval")
LENGTHS = (20, 100)


@dataclass(frozen=True)
class Seated:
    """A session in the place of a survey, and who gave it."""

    survey: int
    profile: Profile
    sent: Sequence[SentRecord]


@dataclass(frozen=True)
class Numbers:
    """Human score, 0 to 1, and Krippendorff's alpha of a study."""

    score: float
    alpha: float


@dataclass(frozen=True)
class Found:
    """A study before and after the desk. excluded, wrongly: sessions, and those of honest people among them.

    left: the share of careless people among the sessions that count in the end.
    """

    before: Numbers
    after: Numbers
    truth: Numbers
    sessions: int
    excluded: int
    wrongly: int
    left: float


class Study:
    """Surveys of one kind whose places are filled by people of a crowd."""

    def __init__(self, kind: StudyKind, *, length: int, careless: float, seed: int) -> None:
        self.kind, self.careless = kind, careless
        self.dice = random.Random(f"{kind.name} {length} {careless} {seed}")
        self.surveys = [
            draw_survey(kind, size=length, first=1 + 10_000 * number, dice=self.dice) for number in range(SURVEYS)
        ]
        self.arrived = 0

    def person(self) -> Profile:
        """Return somebody of the crowd."""
        if self.dice.random() < self.careless:
            return self.dice.choice([each for each in CHEATERS if self.kind.name in each.kinds])
        typical, *odd = HONEST
        if self.dice.random() < TYPICAL:
            return typical
        return self.dice.choice([each for each in odd if self.kind.name in each.kinds])

    def seat(self, survey: int, seated: Sequence[Seated]) -> Seated:
        """Return the session of the next person in a place of `survey`."""
        who = self.person()
        earlier = [each.sent for each in seated if each.survey == survey]
        self.arrived += 1
        return Seated(
            survey, who, sit(self.surveys[survey], who, session=self.arrived, dice=self.dice, earlier=earlier)
        )

    def fill(self) -> list[Seated]:
        seated: list[Seated] = []
        for survey in range(SURVEYS):
            for _ in range(SEATS):
                seated.append(self.seat(survey, seated))
        return seated

    def flagged(self, seated: Sequence[Seated]) -> set[int]:
        """Return the sessions that a rule flags."""
        captions = {question: texts for each in self.surveys for question, texts in each.captions.items()}
        found = find_flags([sent for each in seated for sent in each.sent], captions=captions)
        return {session for session, rules in found.items() if rules}


def numbers(surveys: Sequence[Survey], seated: Sequence[Seated]) -> Numbers:
    """Return the human score and alpha of these sessions; answers to checks count nowhere."""
    right_of = {each.id: each.right for survey in surveys for each in survey.asked}
    right, people, questions = [], [], []
    labels: dict[int, list[str]] = {}
    for who, each in enumerate(seated):
        for sent in each.sent:
            if not sent.answer.check and sent.answer.label is not None:
                right.append(sent.answer.label == right_of[sent.answer.question])
                people.append(who)
                questions.append(sent.answer.question)
                labels.setdefault(sent.answer.question, []).append(sent.answer.label)
    columns = max(map(len, labels.values()))
    ratings = [[*given, *[None] * (columns - len(given))] for given in labels.values()]
    score, alpha = score_of_people(right, people, questions).value, estimate(KrippendorffAlpha(), ratings).value
    assert score is not None
    assert alpha is not None
    return Numbers(score, alpha)


def run(kind: StudyKind, *, length: int, careless: float, seed: int) -> Found:
    """Return what the desk does in one simulated study."""
    study = Study(kind, length=length, careless=careless, seed=seed)
    seated = study.fill()
    before, excluded, wrongly = numbers(study.surveys, seated), 0, 0
    for _ in range(ROUNDS):
        flagged = study.flagged(seated)
        out = [each for each in seated if each.sent[0].session in flagged]
        if not out:
            break
        excluded += len(out)
        wrongly += sum(each.profile.is_honest for each in out)
        seated = [each for each in seated if each.sent[0].session not in flagged]
        for each in out:
            seated.append(study.seat(each.survey, seated))
    study.careless = 0
    truths = [numbers(study.surveys, study.fill()) for _ in range(TRUTHS)]
    return Found(
        before,
        numbers(study.surveys, seated),
        Numbers(mean(each.score for each in truths), mean(each.alpha for each in truths)),
        sessions=SEATS * SURVEYS,
        excluded=excluded,
        wrongly=wrongly,
        left=mean(not each.profile.is_honest for each in seated),
    )


def interval(values: Sequence[float]) -> str:
    """Return the mean with its 95 % interval over seeds."""
    half = t_quantile(0.95, len(values) - 1) * stdev(values) / sqrt(len(values))
    return f"{mean(values):6.3f} ({mean(values) - half:.3f} to {mean(values) + half:.3f})"


def lines(seeds: int, careless: float) -> Iterator[str]:
    yield f"{SURVEYS} surveys of {SEATS} people, {careless:.0%} careless, {seeds} seeds."
    yield "Each number is the mean over seeds, with its 95 % interval."
    for kind in KINDS:
        for length in LENGTHS if kind.name in CHOICES else ():
            found = [run(kind, length=length, careless=careless, seed=seed) for seed in range(seeds)]
            yield f"\n{kind.name}, {length} questions"
            yield f"{'':8}{'human score':30}{'alpha':30}"
            for name in ("before", "after", "truth"):
                each: list[Numbers] = [getattr(one, name) for one in found]
                score, alpha = interval([one.score for one in each]), interval([one.alpha for one in each])
                yield f"{name:8}{score:30}{alpha:30}"
            excluded, wrongly = mean(one.excluded for one in found), mean(one.wrongly for one in found)
            left = mean(one.left for one in found)
            yield (
                f"Of {found[0].sessions} places {excluded:.1f} sessions were excluded and replaced, {wrongly:.1f} of "
                f"them of honest people. Careless in the end: {left:.1%}."
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--careless", type=float, default=1 / 3)
    given = parser.parse_args()
    for line in lines(given.seeds, given.careless):
        print(line, flush=True)


if __name__ == "__main__":
    main()

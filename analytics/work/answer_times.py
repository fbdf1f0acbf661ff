"""Check answer times: possible times by the server's clock, and minimum times for reading and looking."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from analytics.work.working_time import SentAnswer

# The minimum times of a question, in seconds. Each is far below measured times of people: - Seeing the gist of a
# picture takes 0.1 to 0.15 s (Thorpe, Fize & Marlot 1996, Nature 381), pressing one of several keys at least 0.2 s
# more. - A further picture: gists are recognised in sequences at 0.013 to 0.08 s a picture (Potter et al. 2014,
# Attention, Perception & Psychophysics 76). - A word: 0.03 s is 2,000 words a minute. Readers of English manage 238 on
# average, hardly anybody more than 400 (Brysbaert 2019, Journal of Memory and Language 109); skimming takes up two to
# three times that.
SECONDS_TO_PRESS = 0.3
SECONDS_PER_PICTURE = 0.05
SECONDS_PER_WORD = 0.03
# Fewer quick answers may be slips of the finger.
FEWEST_QUICK = 3
# A browser's clock and the server's differ a little, and two tabs may count the same seconds.
TOLERATED_SECONDS = 10
TOLERATED_RATIO = 1.2


@dataclass(frozen=True)
class TimedAnswer:
    """An answer's seconds: `claimed` by the browser (None: it measured nothing), `possible` by the server's clock, and
    `least`, the minimum for its question."""

    claimed: float | None
    possible: float
    least: float

    @property
    def is_quick(self) -> bool:
        return self.possible < self.least


@dataclass(frozen=True)
class TimeEvidence:
    """Implausible times of a session.

    answers: their number; quick: the number of answers below the minimum time of their question. possible, least,
    claimed: sums over its answers, in seconds. `is_too_quick` and `claims_too_much` say which of the two rules the
    session breaks; it breaks at least one.
    """

    answers: int
    quick: int
    claimed: float
    possible: float
    least: float
    is_too_quick: bool
    claims_too_much: bool


def possible_seconds(begun: datetime, answers: Sequence[SentAnswer], *, held: int) -> list[float]:
    """Return the longest possible working time of each answer, in order of arrival.

    It is the time that the browser claims, limited by the server's clock. `begun`: when the first question was served.
    A page holds at most `held` questions: with four, the question of the fifth answer was served after the first answer
    arrived. Nobody works on two questions at once, so answers are placed one after the other, each as early as
    possible. This shortens no honest claim, even if questions were prefetched, or answers arrive together after an
    interruption. If the browser measured nothing, its page held one question, and all time since the previous answer is
    possible.

    Example: four questions held; answers of 10 s each arrive 40, 40 and 40 s after `begun`: 10, 10 and 10 s. Answers
    of 21 s arrive after 1, 2 and 3 s: 1, 1 and 1 s.
    """
    arrivals: list[float] = []
    seconds = []
    free = 0.0
    for number, answer in enumerate(answers):
        arrived = max((answer.at - begun).total_seconds(), arrivals[-1] if arrivals else 0.0)
        served = arrivals[number - held] if number >= held else 0.0
        room = max(arrived - max(free, served), 0.0)
        claimed = claimed_seconds(answer)
        seconds.append(room if claimed is None else min(claimed, room))
        free = max(free, served) + seconds[-1]
        arrivals.append(arrived)
    return seconds


def claimed_seconds(answer: SentAnswer) -> float | None:
    """Return the seconds the question was in view according to the browser; None if it measured nothing."""
    return None if answer.send_ms is None else max(answer.send_ms - (answer.hidden_ms or 0), 0) / 1000


def least_seconds(*, words: int, pictures: int) -> float:
    """Return the minimum seconds for reading a question's words and looking at its pictures.

    Example: 10 words and 4 pictures: 0.3 + 4 x 0.05 + 10 x 0.03 = 0.8 s.
    """
    return SECONDS_TO_PRESS + pictures * SECONDS_PER_PICTURE + words * SECONDS_PER_WORD


def time_evidence(answers: Iterable[TimedAnswer]) -> TimeEvidence | None:
    """Return the implausible times of a session with `answers`; None if all are plausible.

    It is too quick if more than half of its answers, and at least FEWEST_QUICK, took less than the minimum time of
    their question. It claims too much if the claimed time exceeds the possible time by more than TOLERATED_SECONDS, and
    by more than the factor TOLERATED_RATIO.
    """
    given = list(answers)
    measured = [answer for answer in given if answer.claimed is not None]
    claimed = sum(answer.claimed or 0.0 for answer in measured)
    at_most = sum(answer.possible for answer in measured)
    quick = sum(answer.is_quick for answer in given)
    is_too_quick = quick >= FEWEST_QUICK and 2 * quick > len(given)
    claims_too_much = claimed > at_most + TOLERATED_SECONDS and claimed > at_most * TOLERATED_RATIO
    if not is_too_quick and not claims_too_much:
        return None
    possible, least = sum(answer.possible for answer in given), sum(answer.least for answer in given)
    return TimeEvidence(len(given), quick, claimed, possible, least, is_too_quick, claims_too_much)

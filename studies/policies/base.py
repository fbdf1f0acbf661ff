"""Interface of policies: the numbers that they read, and whether their bound is crossed. Pure.

A policy pauses a study, so that nobody new comes in, or opens places again. People who are at work always finish.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, ClassVar


class Act(StrEnum):
    """What a policy does: pause the study, or ask others the questions of excluded people."""

    PAUSE = "pause"
    REPLACE = "replace"


class Need(StrEnum):
    """Which numbers a policy reads; the others are not computed for it."""

    FLAGS = "flags"
    GOLD = "gold"
    COST = "cost"
    WAGE = "wage"
    SCORES = "scores"
    EXCLUDED = "excluded"


@dataclass(frozen=True)
class Outline:
    """What a design tells about the numbers that a study can get.

    knows_right: some right answers are known in advance. pays: annotators are paid. pay: of the shortest session, in
    `currency`, with its `paid_answers`, 0 if answers are not paid. hourly: the pay of an hour, at the estimated
    time. gold: how many gold questions a session has, 0 without any. answers: that a question wants. longest: questions
    of the longest session. replaces: places may open again. Each None if it is unknown: sessions: at most so many are
    finished. questions: those whose right answer is known. cost: of all places.
    """

    knows_right: bool
    pays: bool
    pay: Decimal
    paid_answers: int
    currency: str
    hourly: Decimal
    gold: int
    answers: int
    longest: int
    replaces: bool
    sessions: int | None = None
    questions: int | None = None
    cost: Decimal | None = None


@dataclass(frozen=True)
class PolicyFacts:
    """Numbers of a study, of all of it or since it was resumed.

    sessions: finished, without people who withdrew; `flagged`: those with a flag that is in force, was upheld, or was
    cleared by an exclusion. gold_answers: answers to gold questions of people whose answers count; `gold_right`: right
    ones. cost: paid, ordered and still owed, without fees. wage: hourly, at the median of `wage_sessions` finished
    sessions, None without any. people_right, questions_right: shares right (0 to 1) of people who finished, and of
    questions with all answers, in that order. excluded: answers of excluded people whose place nobody got.
    """

    currency: str = "USD"
    sessions: int = 0
    flagged: int = 0
    gold_answers: int = 0
    gold_right: int = 0
    cost: Decimal = Decimal(0)
    wage: Decimal | None = None
    wage_sessions: int = 0
    people_right: Sequence[float] = ()
    questions_right: Sequence[float] = ()
    excluded: int = 0


@dataclass(frozen=True)
class Standing:
    """Where a study stands under a policy. value, bound: in words, with units; value "" without evidence.

    n: how many sessions, people or questions the value is of, with the noun. crossed: the policy acts. sentence: the
    value, n and bound, for an event and a mail.
    """

    value: str
    n: str
    bound: str
    crossed: bool
    sentence: str


class Policy(ABC):
    """A policy; `given` is its entry in the study file, valid under its schema.

    title, about: what researchers read. counts_anew: after a resume it counts only what came since; a policy that does
    not acts once.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]
    act: ClassVar[Act] = Act.PAUSE
    need: ClassVar[Need]
    schema: ClassVar[Mapping[str, Any]]
    counts_anew: ClassVar[bool] = True

    def problems(self, given: Mapping[str, Any], outline: Outline) -> Iterable[tuple[str, str]]:
        """Yield (property, sentence) for each reason why it can never act; "" for the entry as a whole."""
        return ()

    def least_sessions(self, given: Mapping[str, Any], outline: Outline) -> int:
        """Return how many finished sessions it needs before it can act."""
        return 0

    @abstractmethod
    def judge(self, given: Mapping[str, Any], facts: PolicyFacts) -> Standing:
        """Return the standing of a study with these numbers."""


SESSIONS: Mapping[str, Any] = {
    "type": "integer",
    "minimum": 1,
    "maximum": 100_000,
    "description": "The minimum number of finished sessions; with fewer it does nothing.",
}

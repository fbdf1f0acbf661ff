"""Interface of acceptance rules: their input (question and votes), requirements and verdict. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self

from analytics.outcomes import State
from studies.kinds.base import Kind

__all__ = ["LabelSet", "Needs", "Rule", "State", "Verdict", "Vote", "VoteContext"]

# How a rule compares answers: by option, or by the kind's first label grouping.
LabelSet = Literal["options", "groups"]


@dataclass(frozen=True, slots=True)
class VoteContext:
    """The question that is voted on, as its rule sees it.

    `wanted`: answers wanted so far. `most`: the most answers allowed; both at least 1. `right`: the label of the right
    answer, "" if unknown. `content`: what the question shows. `rejecting`: keys of the rejecting options.
    """

    wanted: int
    most: int = 1
    right: str = ""
    content: Mapping[str, Any] = field(default_factory=dict)
    rejecting: frozenset[str] = frozenset()

    @classmethod
    def of_question(cls, kind: Kind, content: Mapping[str, Any], *, wanted: int, most: int, right: str) -> Self:
        """Return the input of a rule for a question of `kind`; everything that decides a question builds it here."""
        return cls(wanted, max(wanted, most), right, content, kind.rejecting_options)


@dataclass(frozen=True, slots=True)
class Vote:
    """One counted answer: its `label` ("" if its kind has no label or several) and the whole `answer`.

    `downstream_states`: states of the questions that other studies asked about this answer, undecided ones included.
    `is_source`: whether other studies can ask about it. Both are filled only for rules that need them.
    """

    label: str
    answer: Any = None
    downstream_states: Sequence[State] = ()
    is_source: bool = True


@dataclass(frozen=True, slots=True)
class Needs:
    """Requirements of a rule; they decide which kinds of question it fits.

    `options`: keys of options that every question must offer. `one_label`: each answer is one label. `right`: the right
    answer is known. `downstream_outcome`: the outcome of the answers in studies that ask about them; other studies must
    be able to ask about answers of the kind. `compares`: the label sets by which it compares answers, coarsest first.
    """

    options: frozenset[str] = frozenset()
    one_label: bool = False
    right: bool = False
    downstream_outcome: bool = False
    compares: Sequence[LabelSet] = ("options",)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Decision of a rule about one question.

    `winner`: the accepted label, None if there is none. `reason`: for people. `more`: whether one more answer than
    wanted so far could decide the question; a study collects up to its `max_answers`.
    """

    state: State
    winner: str | None
    reason: str
    more: bool = False


class Rule(Protocol):
    """A deterministic acceptance rule: the same votes give the same verdict."""

    name: str
    needs: Needs

    def decide(self, asked: VoteContext, answers: Sequence[Vote]) -> Verdict:
        """Return the verdict on the counted answers (0 or more), in the order in which they came."""

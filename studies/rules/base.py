"""What an acceptance rule is: what it sees of a question and of its answers, and what it says. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from analytics.outcomes import State

__all__ = ["Asked", "Given", "LabelSet", "Needs", "Rule", "State", "Verdict"]

# What a rule compares answers by: the options as they are, or as the kind's first grouping puts them together.
LabelSet = Literal["options", "groups"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked: how many answers are `wanted` by now and how many there may be at `most` (at least 1 each), the
    `right` answer's label ("" where none is known), the `content` that the question shows, and the keys of the options
    that are `rejecting`, as its kind says."""

    wanted: int
    most: int = 1
    right: str = ""
    content: Mapping[str, Any] = field(default_factory=dict)
    rejecting: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Given:
    """One counted answer: its one `label` ("" where its kind has none or several) and the whole `answer`.

    `became`: what has become of the questions that other studies asked about this answer, those decided and those not.
    `hands_on`: whether there is anything that others could be asked about it. Both are told to rules that need them.
    """

    label: str
    answer: Any = None
    became: Sequence[State] = ()
    hands_on: bool = True


@dataclass(frozen=True, slots=True)
class Needs:
    """What a rule needs of a kind of question, which is what decides where it fits.

    `options`: the keys of options that every question offers. `one_label`: answers that are one label each. `right`: a
    right answer that is known. `became`: what became of the answers in studies that asked about them; the kind's
    answers must be sources for them. `compares`: by what it tells answers apart, the coarsest first.
    """

    options: frozenset[str] = frozenset()
    one_label: bool = False
    right: bool = False
    became: bool = False
    compares: Sequence[LabelSet] = ("options",)


@dataclass(frozen=True, slots=True)
class Verdict:
    """`winner`: the label that an accepted question is accepted with, None without one. `reason` is for people.

    `more`: whether another answer, beyond those wanted so far, could decide it; a study gives as many as its
    `max_answers` allows.
    """

    state: State
    winner: str | None
    reason: str
    more: bool = False


class Rule(Protocol):
    """What follows for a question from its answers. The same answers give the same verdict, whenever it is run."""

    name: str
    needs: Needs

    def decide(self, asked: Asked, answers: Sequence[Given]) -> Verdict:
        """Return what follows from the counted answers, any number including 0, in the order in which they came."""

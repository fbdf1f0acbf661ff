"""Acceptance rules: what follows for a question from its answers. Pure, named, versioned.

A rule in use is never edited: a changed rule gets a new name. Each takes the answers in the order they came and
how many are wanted, so that running it again over the same answers gives the same verdict.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

# The answer that says no option will do.
NONE = "none"
# The option of an `ambiguity` question that its caption was written for.
ORIGINAL = "original"


class State(StrEnum):
    UNDECIDED = "undecided"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True)
class Verdict:
    """`winner` is the option an accepted question is accepted with, otherwise None; `reason` is for people."""

    state: State
    winner: str | None
    reason: str


Rule = Callable[[Sequence[str], int], Verdict]


def majority_v1(answers: Sequence[str], wanted: int) -> Verdict:
    """Decide by strict majority of the answers wanted.

    An option with more than half of `wanted` answers wins as soon as it has them; when that option is "none" the
    question is rejected. Without such an option the question stays undecided: more answers, or a researcher, must
    settle it.

    answers: option keys, any number including 0. wanted: at least 1; raises ValueError otherwise.
    When more answers than wanted came, the majority is taken of those that came.

    Example: ["a", "a"] of 3 wanted is accepted with "a"; ["a", "b"] of 2 wanted is undecided.
    """
    if wanted < 1:
        raise ValueError(f"wanted is {wanted}; a question wants at least 1 answer.")
    needed = max(wanted, len(answers)) // 2 + 1
    for option, votes in Counter(answers).most_common(1):
        if votes >= needed:
            share = f"{votes} of {max(wanted, len(answers))} answers"
            if option == NONE:
                return Verdict(State.REJECTED, None, f"{share} say that no option will do.")
            return Verdict(State.ACCEPTED, option, f"{share} chose it.")
    missing = max(0, wanted - len(answers))
    if missing:
        return Verdict(State.UNDECIDED, None, f"{missing} of {wanted} answers are still to come.")
    return Verdict(State.UNDECIDED, None, f"No option has a majority of {len(answers)} answers.")


def chosen_v1(answers: Sequence[str], wanted: int) -> Verdict:
    """Accept a question when an option was chosen (BiVLC step 3: Miranda et al. 2024, section 3.3).

    One answer wanted: accepted with that option, rejected when it is "none". Several wanted: `majority_v1`.
    Parameters and errors as there.
    """
    return majority_v1(answers, wanted)


def unambiguous_v1(answers: Sequence[str], wanted: int) -> Verdict:
    """Keep an instance when people find its original image (BiVLC step 4: Miranda et al. 2024, section 3.3).

    Accepted with "original" when that has more than half of `wanted` answers. Every other answer ("generated",
    "both") says that the caption fits the generated image too: rejected when those have more than half together.
    Undecided otherwise. Parameters and errors as for `majority_v1`.

    Example: ["original"] of 1 wanted is accepted; ["both", "generated"] of 3 wanted is rejected.
    """
    verdict = majority_v1([answer if answer == ORIGINAL else NONE for answer in answers], wanted)
    if verdict.state is State.REJECTED:
        votes, of = len(answers) - list(answers).count(ORIGINAL), max(wanted, len(answers))
        return Verdict(State.REJECTED, None, f"{votes} of {of} answers did not tell the original image apart.")
    return verdict


RULES: dict[str, Rule] = {
    "chosen-v1": chosen_v1,
    "unambiguous-v1": unambiguous_v1,
    "majority-v1": majority_v1,
}


def decide(rule: str, answers: Sequence[str], wanted: int) -> Verdict:
    """Apply the rule called `rule`. Raises KeyError for a name that no rule has."""
    return RULES[rule](answers, wanted)

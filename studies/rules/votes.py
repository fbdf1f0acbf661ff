"""Vote counting shared by several rules."""

from collections import Counter
from collections.abc import Sequence, Set

from studies.kinds.base import NONE
from studies.rules.base import State, Verdict, VoteContext

ONLY_NONE = frozenset({NONE})


def of_answers(votes: int, of: int, one: str, several: str) -> str:
    """Return that `votes` of `of` answers say something, as a sentence: `one` or `several` is its predicate."""
    return f"The only answer {one}." if of == 1 else f"{votes} of {of} answers {several}."


def majority(labels: Sequence[str], wanted: int, *, rejecting: Set[str] = ONLY_NONE) -> Verdict:
    """Return the verdict of the strict majority of `labels`; `rejecting` labels count together.

    Raises ValueError if fewer than 1 answer is wanted.
    """
    if wanted < 1:
        raise ValueError(f"wanted is {wanted}; a question wants at least 1 answer.")
    of = max(wanted, len(labels))
    together = (None if label in rejecting else label for label in labels)
    for label, votes in Counter(together).most_common(1):
        if votes >= of // 2 + 1:
            if label is None:
                reason = of_answers(votes, of, "says that no option fits", "say that no option fits")
                return Verdict(State.REJECTED, None, reason)
            return Verdict(State.ACCEPTED, label, of_answers(votes, of, "chose it", "chose it"))
    missing = wanted - len(labels)
    if missing > 0:
        return Verdict(State.UNDECIDED, None, say_missing_answers(missing, wanted), more=True)
    reason = f"No option was chosen by more than half of the {len(labels)} answers."
    return Verdict(State.UNDECIDED, None, reason, more=True)


def say_missing_answers(missing: int, wanted: int) -> str:
    """Return as a sentence how many of the answers wanted are missing."""
    return f"{missing} of {wanted} answers still to come." if wanted > 1 else "No answer yet."


def decide_retrieval(labels: Sequence[str], asked: VoteContext, *, needed: int, of: int) -> Verdict:
    """Accept at `needed` right labels of `of`, reject at `needed` wrong ones.

    needed: more than half of `of`. If more than `of` answers are wanted or came, their strict majority decides. If the
    right answer is unknown, the question stays undecided. Raises ValueError if fewer than 1 answer is wanted.
    """
    if asked.wanted < 1:
        raise ValueError(f"wanted is {asked.wanted}; a question wants at least 1 answer.")
    if labels and not asked.right:
        return Verdict(State.UNDECIDED, None, "The right answer is unknown, so the rule cannot decide.")
    if (most := max(asked.wanted, len(labels))) > of:
        needed, of = most // 2 + 1, most
    found = sum(label == asked.right for label in labels)
    if found >= needed:
        return Verdict(State.ACCEPTED, asked.right, of_answers(found, len(labels), "found it", "found it"))
    if len(labels) - found >= needed:
        reason = of_answers(found, len(labels), "did not find it", f"found it; {needed} of {of} had to")
        return Verdict(State.REJECTED, None, reason)
    if not labels:
        return Verdict(State.UNDECIDED, None, "No answer yet.", more=True)
    reason = of_answers(
        found,
        len(labels),
        f"{'found' if found else 'did not find'} it; {needed} of {of} have to find it",
        f"found it; {needed} of {of} have to",
    )
    return Verdict(State.UNDECIDED, None, reason, more=True)

"""Vote counting shared by several rules."""

from collections import Counter
from collections.abc import Sequence, Set

from studies.kinds.base import NONE
from studies.rules.base import State, Verdict, VoteContext

ONLY_NONE = frozenset({NONE})


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
            share = f"{votes} of {of} answers"
            if label is None:
                return Verdict(State.REJECTED, None, f"{share} say that no option will do.")
            return Verdict(State.ACCEPTED, label, f"{share} chose it.")
    missing = wanted - len(labels)
    if missing > 0:
        return Verdict(State.UNDECIDED, None, f"{missing} of {wanted} answers are still to come.", more=True)
    return Verdict(State.UNDECIDED, None, f"No option has a majority of {len(labels)} answers.", more=True)


def retrieved(labels: Sequence[str], asked: VoteContext, *, needed: int, of: int) -> Verdict:
    """Accept at `needed` right labels of `of`, reject at `needed` wrong ones.

    needed: more than half of `of`. If more than `of` answers are wanted or came, their strict majority decides. If the
    right answer is unknown, the question stays undecided. Raises ValueError if fewer than 1 answer is wanted.
    """
    if asked.wanted < 1:
        raise ValueError(f"wanted is {asked.wanted}; a question wants at least 1 answer.")
    if labels and not asked.right:
        return Verdict(State.UNDECIDED, None, "No answer is known to be right, so that none can find it.")
    if (most := max(asked.wanted, len(labels))) > of:
        needed, of = most // 2 + 1, most
    found = sum(label == asked.right for label in labels)
    share = f"{found} of {len(labels)} answers found it"
    if found >= needed:
        return Verdict(State.ACCEPTED, asked.right, f"{share}.")
    if len(labels) - found >= needed:
        return Verdict(State.REJECTED, None, f"{share}; {needed} of {of} had to.")
    return Verdict(State.UNDECIDED, None, f"{share}; {needed} of {of} have to.", more=True)

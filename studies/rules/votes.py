"""What several rules count alike."""

from collections import Counter
from collections.abc import Sequence

from studies.kinds.base import NONE
from studies.rules.base import State, Verdict


def majority(labels: Sequence[str], wanted: int) -> Verdict:
    """Return what the strict majority of `labels` says. Raises ValueError when fewer than 1 is wanted."""
    if wanted < 1:
        raise ValueError(f"wanted is {wanted}; a question wants at least 1 answer.")
    of = max(wanted, len(labels))
    for label, votes in Counter(labels).most_common(1):
        if votes >= of // 2 + 1:
            share = f"{votes} of {of} answers"
            if label == NONE:
                return Verdict(State.REJECTED, None, f"{share} say that no option will do.")
            return Verdict(State.ACCEPTED, label, f"{share} chose it.")
    missing = wanted - len(labels)
    if missing > 0:
        return Verdict(State.UNDECIDED, None, f"{missing} of {wanted} answers are still to come.", more=True)
    return Verdict(State.UNDECIDED, None, f"No option has a majority of {len(labels)} answers.", more=True)

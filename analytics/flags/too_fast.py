"""`too_fast`: answers in less time than the words and pictures of their questions take."""

from typing import Any

from analytics.exact_tests import count_tail
from analytics.flags.base import FALSE_ALARM_RATE, Evidence, FlagRule, probability
from analytics.flags.records import SessionRecord
from analytics.work.answer_times import FEWEST_QUICK, least_seconds

# At most this share of the answers of an attentive person, also of a fast expert, is below the minimum: slips of the
# finger, and questions that they knew already.
SLIPS = 0.15


class TooFast(FlagRule):
    """More answers below the minimum time (`least_seconds`) than slips explain, by the exact binomial distribution."""

    name = "too_fast"
    title = "Too fast"
    misses = "People who answer without looking, but wait before they send."

    def find(self, session: SessionRecord) -> Evidence | None:
        timed = [
            (each.possible_seconds, least_seconds(words=each.words, pictures=each.pictures))
            for each in session.answers
            if each.possible_seconds is not None
        ]
        quick = [(seconds, least) for seconds, least in timed if seconds < least]
        if len(quick) < FEWEST_QUICK:
            return None
        p = count_tail([SLIPS] * len(timed), len(quick))
        if p > FALSE_ALARM_RATE:
            return None
        found: dict[str, Any] = {"quick": len(quick), "answers": len(timed), "p": p}
        took, least = (sum(each) for each in zip(*quick, strict=True))
        return found | {"seconds": round(took, 2), "least_seconds": round(least, 2)}

    def sentence(self, evidence: Evidence) -> str:
        quick, answers = evidence["quick"], evidence["answers"]
        took, least = evidence["seconds"] / quick, evidence["least_seconds"] / quick
        return (
            f"{quick} of {answers} answers came faster than anybody can read and look: "
            f"after {took:.1f} s on average, where at least {least:.1f} s are needed ({probability(evidence['p'])})."
        )

"""`even_times`: nearly all answers take the same time, as those of a program that waits before it sends."""

from statistics import median

from analytics.exact_tests import count_tail
from analytics.flags.base import FALSE_ALARM_RATE, Evidence, FlagRule, percent, probability
from analytics.flags.records import SessionRecord

# The standard deviation of people's times grows with their mean (Wagenmakers & Brown 2007, "On the linear relation
# between the mean and the standard deviation of a response time distribution"). If it is 20 % of the mean, which is
# little, 38 % of the answers are within a tenth of the median. Up to half are not flagged.
NEAR, BY_CHANCE = 0.1, 0.5
# Times of slips and held keys have a rule of their own.
LEAST_SECONDS = 1.0


class EvenTimes(FlagRule):
    """More answers than people's times explain take within NEAR of their median: an exact binomial test."""

    name = "even_times"
    title = "Times too even"
    misses = "Programs that wait for random times, and sessions of under nine answers."

    def find(self, session: SessionRecord) -> Evidence | None:
        seconds = [each.possible_seconds for each in session.answers if each.possible_seconds is not None]
        if not seconds or (middle := median(seconds)) < LEAST_SECONDS:
            return None
        near = sum(abs(each - middle) <= NEAR * middle for each in seconds)
        p = count_tail([BY_CHANCE] * len(seconds), near)
        if p > FALSE_ALARM_RATE:
            return None
        return {"near": near, "answers": len(seconds), "seconds": round(middle, 1), "p": p}

    def sentence(self, evidence: Evidence) -> str:
        near, answers = evidence["near"], evidence["answers"]
        return (
            f"{near} of {answers} answers took the same time, {evidence['seconds']:.1f} s, to within "
            f"{percent(NEAR)}; people's times differ more ({probability(evidence['p'])})."
        )

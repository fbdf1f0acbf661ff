"""`fast_and_different`: far faster than others, and in agreement with them hardly more often than chance."""

from statistics import median

from analytics.flags.base import Evidence, FlagRule, percent, probability
from analytics.flags.records import SessionRecord
from analytics.session_tests import FEWEST_COMPARED, compared_answers, disagreement_p, last_parts

# A fast expert may be as fast, but agrees with others; somebody with another opinion may differ, but takes their time.
# So each sign may be weaker here than alone. Of people who are as fast and no more than half as skilled as others, two
# in a hundred are flagged. Hardly any honest person is both.
FAST, LIMIT = 0.4, 0.02
# All answers and, for people who stop caring, the last half, with their parts of the limit.
PARTS = ((1.0, 0.5), (1 / 2, 0.5))


class FastAndDifferent(FlagRule):
    """The median time is under 0.4 of that of others, and agreement above chance is under half of theirs."""

    name = "fast_and_different"
    version = 2
    title = "Fast and unlike others"
    misses = "Careless people who take their time, and those whose questions nobody else answered."

    def find(self, session: SessionRecord) -> Evidence | None:
        compared = [each for _, each in compared_answers(session)]
        for first, answers, rate in last_parts(session, PARTS):
            ratios = [
                each.possible_seconds / session.median_seconds[each.kind]
                for each in session.answers
                if each.number >= first and each.possible_seconds is not None and session.median_seconds.get(each.kind)
            ]
            if len(ratios) < FEWEST_COMPARED or median(ratios) >= FAST:
                continue
            p = disagreement_p(session, answers, compared, proven=True)
            if p < rate * LIMIT:
                agreed = sum(each.others.get(each.label, 0) / sum(each.others.values()) for each in answers)
                return {
                    "answers": len(answers),
                    "from_number": first,
                    "time_ratio": round(median(ratios), 3),
                    "agreed": round(agreed / len(answers), 4),
                    "p": p,
                }
        return None

    def sentence(self, evidence: Evidence) -> str:
        begin = "Answers" if evidence["from_number"] == 1 else f"Answers from number {evidence['from_number']} on"
        return (
            f"{begin} took {percent(evidence['time_ratio'])} of the time of others (median), and "
            f"{percent(evidence['agreed'])} of {evidence['answers']} compared answers agree with others "
            f"({probability(evidence['p'])})."
        )

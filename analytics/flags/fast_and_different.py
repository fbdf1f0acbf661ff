"""`fast_and_different`: far faster than others, and in agreement with them hardly more often than chance."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from analytics.expected_answers import ComparedAnswer
from analytics.flags.base import Evidence, FlagRule, percent, probability
from analytics.flags.records import SessionRecord
from analytics.session_tests import FEWEST_COMPARED, compared_answers, disagreement_p, last_parts

# A fast expert may be as fast, but agrees with others; somebody with another opinion may differ, but takes their time.
# So each sign may be weaker here than alone. Of people who are as fast and no more than half as skilled as others, two
# in a hundred are flagged. Hardly any honest person is both.
FAST, LIMIT = 0.4, 0.02
# All answers and, for people who stop caring, the last half, with their parts of the limit. The quick answers are
# tested too, for people who look at some questions only: honest people are quick where a question is easy.
PARTS = ((1.0, 0.4), (1 / 2, 0.3))
QUICK = 0.3


class FastAndDifferent(FlagRule):
    """The median time is under 0.4 of that of others, and agreement above chance is under half of theirs: of all
    answers, of the last half, or of those that took less than 0.4 of the time of others."""

    name = "fast_and_different"
    version = 3
    title = "Fast and unlike others"
    misses = "Careless people who take their time, and those whose questions nobody else answered."

    def find(self, session: SessionRecord) -> Evidence | None:
        compared = compared_answers(session)
        ratios = {
            each.number: each.possible_seconds / session.median_seconds[each.kind]
            for each in session.answers
            if each.possible_seconds is not None and session.median_seconds.get(each.kind)
        }
        answers = [each for _, each in compared]
        for first, some, rate in last_parts(compared, PARTS):
            among = [ratio for number, ratio in ratios.items() if number >= first]
            if len(among) < FEWEST_COMPARED or median(among) >= FAST:
                continue
            p = disagreement_p(session, some, answers, proven=True)
            if p < rate * LIMIT:
                return _evidence(some, among, p) | {"from_number": first}
        quick = [(each, ratios[number]) for number, each in compared if ratios.get(number, FAST) < FAST]
        some = [each for each, _ in quick]
        if len(some) < FEWEST_COMPARED:
            return None
        p = disagreement_p(session, some, answers, proven=True)
        if p >= QUICK * LIMIT:
            return None
        return _evidence(some, [ratio for _, ratio in quick], p) | {"of": len(compared)}

    def sentence(self, evidence: Evidence) -> str:
        took = f"took {percent(evidence['time_ratio'])} of the time of others (median), and"
        agree = f"{percent(evidence['agreed'])} of {evidence['answers']} compared answers agree with unflagged sessions"
        first = evidence.get("from_number", 1)
        begin = "Answers" if first == 1 else f"Answers from number {first} on"
        if "of" in evidence:
            begin = f"{evidence['answers']} of {evidence['of']} compared answers"
            agree = f"{percent(evidence['agreed'])} of these agree with unflagged sessions"
        return f"{begin} {took} {agree} ({probability(evidence['p'])})."


def _evidence(answers: Sequence[ComparedAnswer], ratios: Sequence[float], p: float) -> dict[str, Any]:
    agreed = sum(each.others.get(each.label, 0) / sum(each.others.values()) for each in answers)
    return {
        "answers": len(answers),
        "time_ratio": round(median(ratios), 3),
        "agreed": round(agreed / len(answers), 4),
        "p": p,
    }

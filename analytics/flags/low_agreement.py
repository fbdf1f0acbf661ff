"""`low_agreement`: answers that agree with those of others hardly more often than chance."""

from analytics.expected_answers import agreement_test
from analytics.flags.base import FALSE_ALARM_RATE, Evidence, FlagRule, percent, probability
from analytics.flags.records import SessionRecord
from analytics.session_tests import LEAST_SKILL, compared_answers, disagreement_p, last_parts

# All answers and, for people who stop caring, the last half and the last third, with their parts of the rate.
PARTS = ((1.0, 0.5), (1 / 2, 0.25), (1 / 3, 0.25))


class LowAgreement(FlagRule):
    """Less than half of the agreement above chance that others have, by an exact test, in all or the last answers.

    People who choose an option more readily than others are compared with others like them.
    """

    name = "low_agreement"
    version = 3
    title = "Agreement near chance"
    misses = "Careless people in short sessions, where others disagree too, and where nobody else answered."

    def find(self, session: SessionRecord) -> Evidence | None:
        compared = compared_answers(session)
        answers = [each for _, each in compared]
        for first, some, rate in last_parts(compared, PARTS):
            p = disagreement_p(session, some, answers)
            if p > rate * FALSE_ALARM_RATE:
                continue
            test = agreement_test(some, skill=LEAST_SKILL)
            return {
                "answers": test.answers,
                "from_number": first,
                "agreed": round(test.agreed, 4),
                "low": round(test.low, 4),
                "high": round(test.high, 4),
                "expected": round(test.expected, 4),
                "by_chance": round(test.by_chance, 4),
                "p": p,
            }
        return None

    def sentence(self, evidence: Evidence) -> str:
        about = f"{evidence['answers']} answers"
        if evidence["from_number"] > 1:
            about = f"the {about} from number {evidence['from_number']} on"
        return (
            f"Agreement with unflagged sessions is {percent(evidence['agreed'])} on {about} (95 % CI "
            f"{round(100 * evidence['low'])}–{round(100 * evidence['high'])}); they agree with each "
            f"other on {percent(evidence['expected'])}, and chance gives {percent(evidence['by_chance'])} "
            f"({probability(evidence['p'])})."
        )

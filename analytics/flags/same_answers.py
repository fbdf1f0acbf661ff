"""`same_answers`: the answers of one other session, given before, again: also where it differs from everybody else."""

from collections.abc import Mapping

from analytics.exact_tests import count_tail
from analytics.expected_answers import label_chance
from analytics.flags.base import FALSE_ALARM_RATE, Evidence, FlagRule, probability
from analytics.flags.records import SessionRecord
from analytics.session_tests import chances_with_leanings, leaning_labels

FEWEST_SHARED, LEAST_EQUAL = 20, 0.95
# People who speak alike, or see colours alike, also differ from others alike: half of what others disagree about may be
# shared by two honest people.
SHARED_REASONS = 0.5
# Two experts are equal because they are right: only where the other session differs from most others does an equal
# answer show a copy. With this limit, nine of nine such answers must be equal.
LIMIT_WHERE_DIFFERENT = 0.002


class SameAnswers(FlagRule):
    """Nearly all answers equal those that one other session gave before, more often than two honest people's do.

    Two exact tests must agree: of all answers, by the answers of everybody else and corrected for the number of
    sessions compared, and of those where the other session differs from most. The earlier session is not flagged.
    """

    name = "same_answers"
    version = 3
    title = "Same answers as another session"
    misses = "Copies with changes, copies of a session with few errors, and short sessions."

    def find(self, session: SessionRecord) -> Evidence | None:
        mine = {each.question: each for each in session.answers if each.label is not None and not each.check}
        found: tuple[float, int, int, int, int] | None = None
        leanings: Mapping[int, Mapping[str, float]] | None = None
        labels: Mapping[str, str] = {}
        for theirs in session.earlier_answers:
            shared = [(mine[question], label) for question, label in theirs.items() if question in mine]
            equal = sum(each.label == label for each, label in shared)
            if len(shared) < FEWEST_SHARED or equal < LEAST_EQUAL * len(shared):
                continue
            # Two strict people are equal because both say "none": what a leaning explains is no copy.
            if leanings is None:
                leanings, labels = chances_with_leanings(session) or {}, leaning_labels(session)
            chances, odd, by_leaning = [], [], []
            for each, label in shared:
                # Without the other session's own answer.
                others = {key: number - (key == label) for key, number in each.others.items()}
                others = {key: number for key, number in others.items() if number > 0}
                agreement = session.agreement.get(each.kind, 0.0)
                chance = label_chance(label, others, options=each.places, agreement=agreement)
                leaning = leanings.get(each.number, {}).get(label, 0.0) if each.place is None else 0.0
                if labels.get(each.kind) == label:
                    # Strict people have their reasons in common too.
                    leaning += SHARED_REASONS * (1 - leaning)
                chances.append(max(chance + SHARED_REASONS * (1 - chance), leaning))
                if (most := max(others.values(), default=0)) > 1 and others.get(label, 0) < most:
                    odd.append(each.label == label)
                    by_leaning.append(max(SHARED_REASONS, leaning))
            p = count_tail(chances, equal)
            p_odd = count_tail(by_leaning, sum(odd))
            if p <= FALSE_ALARM_RATE / max(session.compared, 1) and p_odd <= LIMIT_WHERE_DIFFERENT:
                found = min(found or (1.0, 0, 0, 0, 0), (p, equal, len(shared), sum(odd), len(odd)))
        if found is None:
            return None
        p, equal, number, odd_equal, odd_number = found
        return {"equal": equal, "shared": number, "odd_equal": odd_equal, "odd": odd_number, "p": p}

    def sentence(self, evidence: Evidence) -> str:
        return (
            f"{evidence['equal']} of {evidence['shared']} answers equal those that one other session had given before, "
            f"also {evidence['odd_equal']} of {evidence['odd']} in which it differs from most others "
            f"({probability(evidence['p'])})."
        )

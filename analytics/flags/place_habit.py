"""`place_habit`: options are chosen by where they stand, although they stand at random places."""

from analytics.exact_tests import count_tail
from analytics.flags.base import FALSE_ALARM_RATE, Evidence, FlagRule, percent, probability
from analytics.flags.records import SessionRecord
from analytics.position_bias import position_bias
from analytics.session_tests import find_doubt

# Honest people who are not sure may prefer a place: up to this share of answers by habit is not flagged, and more where
# others disagree: of two images that are equally good, somebody always takes the left one.
BY_HABIT = 0.25


class PlaceHabit(FlagRule):
    """One place is chosen more often than by chance and by the habits of honest people: exact, for each place."""

    name = "place_habit"
    version = 2
    title = "Position bias"
    misses = "People who choose at random places, and options that never change their place, such as yes and no."

    def find(self, session: SessionRecord) -> Evidence | None:
        among = [each for each in session.answers if each.shuffled > 1]
        placed = [(each.place, each.shuffled) for each in among if each.place is not None]
        habits = [max(BY_HABIT, find_doubt(each, session)) for each in among if each.place is not None]
        most = max((shuffled for _, shuffled in placed), default=0)
        found: tuple[float, int, int, int] | None = None
        for place in range(most):
            asked = [each for each in zip(placed, habits, strict=True) if each[0][1] > place]
            chosen = sum(each == place for each, _ in placed)
            chances = [1 / shuffled + habit * (1 - 1 / shuffled) for (_, shuffled), habit in asked]
            if chosen <= sum(chances):
                continue
            p = count_tail(chances, chosen)
            if p <= FALSE_ALARM_RATE / most and (found is None or p < found[0]):
                found = (p, place, chosen, len(asked))
        if found is None:
            return None
        p, place, chosen, answers = found
        bias = position_bias([each for each, _ in placed], [shuffled for _, shuffled in placed])
        return {
            "place": place + 1,
            "chosen": chosen,
            "answers": answers,
            "expected": round(sum(1 / shuffled for _, shuffled in placed if shuffled > place), 1),
            "effect": None if bias.effect is None else round(bias.effect, 2),
            "p": p,
        }

    def sentence(self, evidence: Evidence) -> str:
        share = percent(evidence["chosen"] / evidence["answers"])
        return (
            f"The option at place {evidence['place']} was chosen in {evidence['chosen']} of {evidence['answers']} "
            f"answers ({share}); places are random, so {evidence['expected']:g} are expected "
            f"({probability(evidence['p'])})."
        )

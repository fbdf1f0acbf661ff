"""`patterns`: straight lines and cycles, such as the same place again and again, ABAB or ABCD."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import sqrt

from analytics.exact_tests import count_tail, run_tail
from analytics.expected_answers import label_chance
from analytics.flags.base import FALSE_ALARM_RATE, Evidence, FlagRule, probability
from analytics.flags.records import AnswerRecord, SessionRecord
from analytics.session_tests import MOST_UNPROVEN, chances_with_leanings, find_doubt

FEWEST_ANSWERS = 8
# 1 is a straight line, 2 is ABAB, 4 is ABCD, 6 is ABCDCB.
LONGEST_PERIOD = 6
# A weak habit of an honest person makes this share of the other answers repeat. Where others disagree, it makes more
# repeat at the place that the person prefers: of two equally good images, somebody always takes the left one.
BY_HABIT = 0.1
# People differ in how readily they say "yes" or "none" (acquiescence). Where others disagree, a leaning decides: then
# somebody's own share of an option that keeps its place explains repeats, up to this share. Of people whom a leaning
# may explain, it does at each question.
MOST_OWN_SHARE = 0.9
# For each period the longest run, and the number of all repeats.
TESTS = 2 * LONGEST_PERIOD
# Standard deviations.
NEAR = 2.0


class Patterns(FlagRule):
    """Answers repeat those some steps before, in one run or in all, more often than their questions explain.

    An option at a random place repeats a place by chance; one with a fixed place, such as "yes", as often as the
    answers of others say. Both tails are exact, and are corrected for all periods.
    """

    name = "patterns"
    version = 4
    title = "Pattern of answers"
    misses = "People who choose at random, without a pattern or with one of more than six steps."

    def find(self, session: SessionRecord) -> Evidence | None:
        answers = [each for each in session.answers if each.label is not None]
        own, leaning = _own_shares(answers), chances_with_leanings(session)
        # The share of the rest that repeats by habit at the preferred place.
        habits = [max(BY_HABIT, find_doubt(each, session)) for each in answers]
        preferred = _preferred_place(answers)
        found: tuple[float, int, int, int, bool] | None = None
        for period in range(1, LONGEST_PERIOD + 1):
            if len(answers) - period < FEWEST_ANSWERS:
                break
            pairs = list(zip(answers, answers[period:], strict=False))
            repeats = [_code(earlier) == _code(later) for earlier, later in pairs]
            chances = [
                _add_habit(
                    _chance(earlier, later, session, own, leaning),
                    habit if earlier.place == preferred else BY_HABIT,
                )
                for (earlier, later), habit in zip(pairs, habits[period:], strict=True)
            ]
            longest, number = _longest_run(repeats), sum(repeats)
            # Most sessions are decided by their means: so near to it, no tail is as small as the limit.
            is_far = number - sum(chances) > NEAR * sqrt(sum(chance * (1 - chance) for chance in chances))
            if is_far and (p := count_tail(chances, number)) <= FALSE_ALARM_RATE / TESTS:
                found = min(found or (1.0, 0, 0, 0, False), (p, period, number, len(pairs), False))
            if longest >= FEWEST_ANSWERS and (p := run_tail(chances, longest)) <= FALSE_ALARM_RATE / TESTS:
                found = min(found or (1.0, 0, 0, 0, False), (p, period, longest, len(pairs), True))
        if found is None:
            return None
        p, period, repeats_found, compared, in_a_row = found
        return {"period": period, "repeats": repeats_found, "of": compared, "in_a_row": in_a_row, "p": p}

    def sentence(self, evidence: Evidence) -> str:
        period = evidence["period"]
        before = "the one before" if period == 1 else f"the one {period} before"
        how_often = f"{evidence['repeats']} answers in a row" if evidence["in_a_row"] else ""
        how_often = how_often or f"{evidence['repeats']} of {evidence['of']} answers"
        return f"{how_often} chose the same place or option as {before} ({probability(evidence['p'])})."


def _code(answer: AnswerRecord) -> tuple[str, str | int]:
    """Return what repeats: the place of a shuffled option, the key of another."""
    return (answer.kind, answer.label or "") if answer.place is None else ("", answer.place)


def _preferred_place(answers: Sequence[AnswerRecord]) -> int:
    """Return the place that was chosen most often, -1 if no option was shuffled."""
    places = Counter(each.place for each in answers if each.place is not None)
    return max(places, key=lambda place: places[place], default=-1)


def _own_shares(answers: Sequence[AnswerRecord]) -> dict[tuple[str, str | int], float]:
    """Return option of a fixed place -> its share of the answers to questions of its type."""
    of_kind = Counter(each.kind for each in answers)
    chosen = Counter((each.kind, each.label or "") for each in answers if each.place is None)
    return {(kind, label): number / of_kind[kind] for (kind, label), number in chosen.items()}


def _chance(
    earlier: AnswerRecord,
    later: AnswerRecord,
    session: SessionRecord,
    own: Mapping[tuple[str, str | int], float],
    leaning: Mapping[int, Mapping[str, float]] | None,
) -> float:
    """Return the probability that `later` repeats `earlier`, if its question and the person's leanings decide it."""
    if earlier.place is not None:
        chance = 1 / later.shuffled if later.shuffled > earlier.place else 0.0
    elif earlier.kind != later.kind:
        chance = 0.0
    else:
        label = earlier.label or ""
        shares = session.label_shares.get(later.kind, {})
        agreement = session.agreement.get(later.kind, 0.0)
        if later.others:
            chance = label_chance(label, later.others, options=later.places, agreement=agreement)
            # Where people agree no more than by chance, their common preference still explains an answer.
            chance = max(chance, shares.get(label, 0.0)) if agreement <= 1 / max(later.places, 1) else chance
        else:
            chance = shares.get(label, 1.0)
        share = own[later.kind, label]
        if leaning is None:
            chance += max(min(share, MOST_OWN_SHARE) - chance, 0.0) * _disagreement(agreement, later.places)
        else:
            chance = max(chance, leaning.get(later.number, {}).get(label, min(share, MOST_UNPROVEN)))
    return chance


def _add_habit(chance: float, habit: float) -> float:
    return chance + habit * (1 - chance)


def _disagreement(agreement: float, options: int) -> float:
    """Return how far people disagree: 0 if they all agree, 1 if they agree no more often than by chance."""
    even = 1 / max(options, 1)
    return min((1 - agreement) / (1 - even), 1.0) if even < 1 else 1.0


def _longest_run(repeats: Sequence[bool]) -> int:
    longest = current = 0
    for each in repeats:
        current = current + 1 if each else 0
        longest = max(longest, current)
    return longest

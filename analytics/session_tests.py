"""Tests of a session's answers that several flag rules share: agreement with others, and failed checks."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import exp, log

from analytics.exact_tests import beta_binomial_tail, count_tail
from analytics.expected_answers import ComparedAnswer, is_comparable, label_chance, low_agreement_p
from analytics.flags.records import AnswerRecord, SessionRecord
from analytics.leanings import follows_others, has_extreme_leaning, leaning_agreement_p, leaning_chances

FEWEST_COMPARED = 10
# People of a minority opinion or with a dialect disagree about some questions, and keep more than half of the agreement
# above chance that others have. Careless people who choose at random keep none.
LEAST_SKILL = 0.5
# No rule flags anybody above it, so that leanings need not be looked at.
MOST_FOR_LEANINGS = 0.5
# What a leaning explains at most, if hardly any answers show whether the person follows the questions.
MOST_UNPROVEN = 0.93
# Somebody has a leaning if others would choose the option as often with at most this probability.
LEANING_LIMIT = 0.05
# Where others disagree, people without a preference may take the same place each time, but not always.
MOST_DOUBT = 0.75
# Whoever fails instruction checks so often does not read, so that no leaning explains their answers.
READS = 0.05
# An instruction check that most people fail is wrong.
MOST_FAILED_BY_OTHERS = 0.5
INSTRUCTION = "instruction"
# Type of check -> the share that honest people fail. An instruction check says what to choose, so that failing two of
# three is no slip. On questions with a right answer people err, as on all others, and they change their minds.
FAILED_BY_HONEST_PEOPLE = {"instruction": 0.015, "gold": 0.2, "repeat": 0.25}
OTHER_CHECKS = 0.2
# Differences between honest people: the concentration of a beta distribution around that share.
CONCENTRATION = {"instruction": 200.0}
OTHER_CONCENTRATION = 20.0


def compared_answers(session: SessionRecord) -> list[tuple[int, ComparedAnswer]]:
    """Return number and comparison of each answer about which others say something."""
    found = [
        (each.number, compared)
        for each in session.answers
        if not each.check and (compared := compared_answer(each, session)) is not None
    ]
    return [(number, each) for number, each in found if is_comparable(each)]


def compared_answer(answer: AnswerRecord, session: SessionRecord) -> ComparedAnswer | None:
    """Return an answer of the session beside those of others; None for a text."""
    if answer.label is None:
        return None
    agreement, fixed = session.agreement.get(answer.kind, 0.0), session.fixed_labels.get(answer.kind, frozenset())
    return ComparedAnswer(answer.label, answer.others, answer.places, agreement, fixed)


def find_doubt(answer: AnswerRecord, session: SessionRecord) -> float:
    """Return how far the answers of others leave a question open: 0 if one option is certain, at most MOST_DOUBT.

    0 also where the answers of others say nothing.
    """
    compared = compared_answer(answer, session)
    if compared is None or not is_comparable(compared):
        return 0.0
    options, agreement = compared.options, compared.agreement
    most = max(label_chance(each, compared.others, options=options, agreement=agreement) for each in compared.others)
    return min((1 - most) / (1 - 1 / options), MOST_DOUBT)


def is_spared_by_leaning(session: SessionRecord, answers: Sequence[ComparedAnswer], *, proven: bool = False) -> bool:
    """Whether a leaning may explain the `answers` of a session: the person follows the questions, or too few answers
    show whether they do, and they pass instruction checks. proven: only if they are shown to follow them.
    """
    return follows_others(answers) or (not proven and _may_be_extreme(session, answers))


def _may_be_extreme(session: SessionRecord, answers: Sequence[ComparedAnswer]) -> bool:
    return has_extreme_leaning(answers) and _reads(session)


def _reads(session: SessionRecord) -> bool:
    """Whether the session passes instruction checks as people do who read them; True where most others fail them."""
    rights = [each.is_right for each in _checks(session, INSTRUCTION)]
    failed, mean = sum(not each for each in rights), FAILED_BY_HONEST_PEOPLE[INSTRUCTION]
    p = beta_binomial_tail(len(rights), failed, mean=mean, concentration=CONCENTRATION[INSTRUCTION])
    return p > READS or session.check_failures.get(INSTRUCTION, 0.0) > MOST_FAILED_BY_OTHERS


def disagreement_p(
    session: SessionRecord, some: Sequence[ComparedAnswer], answers: Sequence[ComparedAnswer], *, proven: bool = False
) -> float:
    """Return the probability of so little agreement in `some` of `answers`, or less, of a person with half of the
    agreement above chance that others have.

    If the person chooses some options more readily than others, and a leaning may explain it: of a person with the same
    leanings. proven: only if the person is shown to follow the questions.
    """
    p = low_agreement_p(some, skill=LEAST_SKILL)
    if p > MOST_FOR_LEANINGS or not is_spared_by_leaning(session, answers, proven=proven):
        return p
    among = {id(each) for each in some}
    chances = [each for answer, each in zip(answers, leaning_chances(answers), strict=True) if id(answer) in among]
    return max(p, leaning_agreement_p(some, chances, skill=LEAST_SKILL))


def chances_with_leanings(session: SessionRecord) -> dict[int, Mapping[str, float]] | None:
    """Return number of an answer -> the chances of its labels for a careful person with the leanings of the session.

    None if its leanings explain nothing. If nobody can tell whether it follows the questions, no chance is above
    MOST_UNPROVEN: it may be somebody who always presses the same key.
    """
    compared = compared_answers(session)
    answers = [each for _, each in compared]
    if len(compared) < FEWEST_COMPARED:
        return None
    follows = follows_others(answers)
    if not follows and not _may_be_extreme(session, answers):
        return None
    most = 1.0 if follows else MOST_UNPROVEN
    return {
        number: {label: min(chance, most) for label, chance in each.careful.items()}
        for (number, _), each in zip(compared, leaning_chances(answers), strict=True)
    }


def leaning_labels(session: SessionRecord) -> dict[str, str]:
    """Return type of question -> the option with a fixed place that the person chooses more readily than others.

    Whoever chose nothing else may always press the same key, and has none.
    """
    compared = [each for _, each in compared_answers(session)]
    if len(compared) < FEWEST_COMPARED or not is_spared_by_leaning(session, compared):
        return {}
    found = {}
    for kind, fixed in session.fixed_labels.items():
        answers = [each for each in session.answers if each.kind == kind and each.label and not each.check]
        for label, chosen in Counter(each.label for each in answers if each.label in fixed).most_common(1):
            share = session.label_shares.get(kind, {}).get(label or "", 0.0)
            if chosen < len(answers) and count_tail([share] * len(answers), chosen) <= LEANING_LIMIT:
                found[kind] = label or ""
    return found


def last_parts(
    answers: Sequence[tuple[int, ComparedAnswer]], parts: Sequence[tuple[float, float]]
) -> Iterator[tuple[int, list[ComparedAnswer], float]]:
    """Yield the last answers of each part that has enough: the number of the first, the comparisons, and the rate.

    answers: of the session, as `compared_answers` returns them. parts: which share of the answers, with the rate at
    which it is tested; the largest first.
    """
    for part, rate in parts:
        last = answers[len(answers) - round(part * len(answers)) :]
        if len(last) < FEWEST_COMPARED:
            return
        yield last[0][0] if part < 1 else 1, [each for _, each in last], rate


def check_failures(session: SessionRecord) -> dict[str, tuple[int, int, float]]:
    """Return type of check -> how many were failed, of how many, and the probability that an honest person fails so
    many: beta-binomial, around what honest people fail or, where that is more, what others failed.

    A question with a right answer that a strict person answered by "none" as most others is left out: it shows no more
    than that they are strict. An instruction is none.
    """
    found = {}
    types = sorted({each.check for each in session.answers if each.check})
    leanings = leaning_labels(session) if types else {}
    for type in types:
        checks = _checks(session, type)
        if type != INSTRUCTION:
            checks = [each for each in checks if each.is_right or each.label != leanings.get(each.kind, "")]
        if checks:
            # A check that others fail too is hard, or wrong.
            honest = FAILED_BY_HONEST_PEOPLE.get(type, OTHER_CHECKS)
            mean = min(max(honest, session.check_failures.get(type, 0.0)), 0.95)
            failed = sum(not each.is_right for each in checks)
            concentration = CONCENTRATION.get(type, OTHER_CONCENTRATION)
            p = beta_binomial_tail(len(checks), failed, mean=mean, concentration=concentration)
            found[type] = (failed, len(checks), p)
    return found


def _checks(session: SessionRecord, type: str) -> list[AnswerRecord]:
    return [each for each in session.answers if each.check == type and each.is_right is not None]


def combined_p(values: Sequence[float]) -> float:
    """Return the p of independent p-values together (Fisher 1925): of minus twice the sum of their logarithms.

    Example: .1 and .1 are -2 ln .01 = 9.21 with 4 degrees of freedom, p = .056.
    """
    half = -sum(log(max(value, 1e-300)) for value in values)
    # The upper tail of chi-squared with an even number of degrees is a sum of Poisson's probabilities.
    term = total = exp(-half)
    for number in range(1, len(values)):
        term *= half / number
        total += term
    return min(total, 1.0)

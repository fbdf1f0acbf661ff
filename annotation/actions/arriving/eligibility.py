"""Eligibility: who may begin a study, and which questions a person is not asked.

The facts behind the rules and their effects (docs/decisions/0028-one-clash-costs-a-question.md). A study without rules
costs one query, unless it asks about answers: then nobody is asked about their own. A kind that
`excludes_upstream_annotators` also bars instances that the person saw in the upstream study, and the upstream study
bars instances of open questions that the person has downstream.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils.translation import gettext

from annotation.actions.deciding.description_outcomes import decisions_about, downstream_outcomes
from annotation.errors import NotEligible
from annotation.language import translate
from annotation.models import Annotator, Decision, GroupMember, Response, Session, Slot
from annotation.models.responses import RESPONSE, counts
from annotation.recruitment import invite
from studies.eligibility import ACCEPTANCE, NOTHING, BarredQuestions, Person, Record, bars_questions, get_rule
from studies.kinds import Answer, get_kind, has_own_score
from studies.models import Question, Study
from studies.rules import State

NOT_AUTHOR, NOT_SAME_INSTANCE = "not_author", "not_same_instance"
Rule = tuple[str, Mapping[str, Any]]


def check(*, study: Study, annotator: Annotator | None, provider: str) -> None:
    """Raise NotEligible if `annotator` (None: somebody new) may not begin `study` at all."""
    rules = [each for each in study.design.eligibility if not bars_questions(each.rule)]
    if not rules:
        return
    person = _person(study, annotator, [each.parameters for each in rules])
    for each in rules:
        rule = get_rule(each.rule)
        if rule.refuses(person, each.parameters):
            raise refusal(each.rule, provider)


def refusal(rule: str, provider: str) -> NotEligible:
    """Message for an annotator whom `rule` excludes."""
    what_next = gettext("This is not your fault, and you do not need to do anything.")
    if provider != invite.PROVIDER:
        what_next = gettext("This is not your fault. Please return it on the platform.")
    return NotEligible(translate(get_rule(rule).told), what_next, rule=rule)


def find_bars(*, study: Study, annotator: Annotator | None) -> BarredQuestions:
    """Return which questions of `study` are barred for `annotator`; none for somebody new (None)."""
    found = NOTHING
    for rule in find_bars_by_rule(study=study, annotator=annotator).values():
        found |= rule
    return found


def find_bars_by_rule(*, study: Study, annotator: Annotator | None) -> dict[str, BarredQuestions]:
    """Return the barred questions of `annotator` by the name of the rule; only rules that bar any."""
    if annotator is None:
        return {}
    found: dict[str, BarredQuestions] = {}
    if rules := _rules_about_questions(study):
        person = _person(study, annotator, [given for _, given in rules])
        for name, given in rules:
            if bars := get_rule(name).bars(person, given):
                found[name] = found.get(name, NOTHING) | bars
    if before_them := _open_downstream_instances(study, annotator):
        found[NOT_SAME_INSTANCE] = found.get(NOT_SAME_INSTANCE, NOTHING) | BarredQuestions(before_them)
    return found


def _rules_about_questions(study: Study) -> list[Rule]:
    """Return the rules that bar single questions of `study`: from its file, and implied by its kinds."""
    rules: list[Rule] = [(each.rule, each.parameters) for each in study.design.eligibility if bars_questions(each.rule)]
    if study.design.asks_about_answers and NOT_AUTHOR not in dict(rules):
        rules.append((NOT_AUTHOR, {}))
    if study.fed_by is not None and study.design.excludes_upstream_annotators:
        implied = (NOT_SAME_INSTANCE, {"study": study.fed_by.slug})
        rules += [] if implied in rules else [implied]
    return rules


def _open_downstream_instances(study: Study, annotator: Annotator) -> frozenset[int]:
    """Return instances of open questions that `annotator` has in downstream studies for strangers.

    Answering about such an instance here would show what they are to find there.
    """
    not_met_here = NOT_SAME_INSTANCE, {"study": study.slug}
    fed = [each for each in study.feeds.all() if not_met_here in _rules_about_questions(each)]
    if not fed:
        return frozenset()
    open_slots = Slot.objects.filter(annotator=annotator, answered_at=None, question__study__in=fed)
    return frozenset(open_slots.values_list("question__instance", flat=True))


def is_barred(bars: BarredQuestions, path: str = "") -> Q:
    """Select the questions that `bars` excludes; `path` leads to them, such as "question__"."""
    made_from = Q(**{f"{path}source_type": RESPONSE, f"{path}source_id__in": bars.answers})
    return Q(**{f"{path}instance__in": bars.instances}) | made_from


def _person(study: Study, annotator: Annotator | None, given: Sequence[Mapping[str, Any]]) -> Person:
    """Return the facts about `annotator` that rules with these values need; nothing else is read."""
    if annotator is None:
        return Person()
    named = {entry["study"] for entry in given if "study" in entry}
    followed = {entry["study"] for entry in given if entry.get("by") == ACCEPTANCE}
    records = {
        each.slug: _record(each, annotator, with_outcomes=each.slug in followed)
        for each in Study.objects.filter(project=study.project_id, slug__in=named)
    }
    groups: frozenset[str] = frozenset()
    if any("group" in entry for entry in given):
        mine = GroupMember.objects.in_force().filter(project=study.project_id, annotator=annotator)
        groups = frozenset(mine.values_list("group", flat=True))
    answers: frozenset[int] = frozenset()
    if study.fed_by_id is not None and study.design.asks_about_answers:
        answers = frozenset(_current(study.fed_by_id, annotator).values_list("pk", flat=True))
    return Person(records, groups, answers)


def _record(study: Study, annotator: Annotator, *, with_outcomes: bool) -> Record:
    mine = _current(study.pk, annotator)
    own = [part.kind for part in study.design.parts if has_own_score(get_kind(part.kind))]
    known = counts() & ~Q(question__right="") & ~Q(question__kind__in=own)
    # A sitting is a seat: a new submission of the same person continues in the same seat.
    by_seat = mine.values_list("slot__seat").annotate(
        answered=Count("pk", filter=Q(is_check=False)),
        known=Count("pk", filter=known),
        right=Count("pk", filter=known & Q(choice=F("question__right"))),
    )
    scored = _scores_by_seat(mine.filter(counts(), question__kind__in=own)) if own else {}
    seats = [
        (answered, known + len(scored.get(seat, ())), right + sum(scored.get(seat, ())))
        for seat, answered, known, right in by_seat
    ]
    answered, known_in_all, right_in_all = (sum(seat[column] for seat in seats) for column in range(3))
    sittings = tuple((seat[1], seat[2]) for seat in seats if seat[1])
    held = Slot.objects.filter(annotator=annotator, question__study=study).values("question__instance")
    met = Question.objects.filter(study=study, responses__in=mine).values("instance")
    # People who gave up a seat or skipped a question may have seen its questions: how far they came is not stored.
    begun = Session.objects.filter(study=study, annotator=annotator, last_seat__isnull=False).order_by()
    surveys = begun.exclude(first_question_at=None).values("last_seat__survey")
    looked_at = Question.objects.filter(Q(places__survey__in=surveys) | Q(skips__annotator=annotator), study=study)
    rows = (held.values_list("question__instance"), met.values_list("instance"), looked_at.values_list("instance"))
    instances = frozenset(pk for some in rows for (pk,) in some)
    accepted, rejected = (0, 0)
    if with_outcomes:
        counted = mine.filter(counts())
        accepted, rejected = _count_outcomes(counted)
        rejected += _count_missed(counted)
    return Record(
        answered=answered,
        known=known_in_all,
        right=right_in_all,
        sittings=sittings,
        accepted=accepted,
        rejected=rejected,
        instances=instances,
    )


def session_score(session: Session) -> tuple[int, float]:
    """Return how many counted answers of `session` have a known right answer, and the sum of their scores."""
    own = [part.kind for part in session.study.design.parts if has_own_score(get_kind(part.kind))]
    mine = Response.objects.counted().filter(session=session, is_current=True).order_by()
    known = mine.exclude(question__right="").exclude(question__kind__in=own)
    scores = [score for each in _scores_by_seat(mine.filter(question__kind__in=own)).values() for score in each]
    right = known.filter(choice=F("question__right")).count()
    return known.count() + len(scores), right + sum(scores)


def _scores_by_seat(answers: QuerySet[Response]) -> Mapping[int | None, Sequence[float]]:
    """Return the scores, from 0 to 1, of answers to questions with a known right answer, by seat."""
    found: dict[int | None, list[float]] = {}
    known = answers.exclude(question__right="", question__right_answer__isnull=True)
    for response in known.select_related("question", "slot"):
        question, answer = response.question, Answer(response.whole_answer, response.choice)
        score = get_kind(question.kind).score(question.content, question.what_is_right, answer)
        if score is not None:
            found.setdefault(response.slot.seat_id if response.slot else None, []).append(score)
    return found


def _count_outcomes(answers: QuerySet[Response]) -> tuple[int, int]:
    """Return how many of `answers` downstream studies accepted, and how many at least one rejected."""
    decided = [set(states) - {State.UNDECIDED} for states in downstream_outcomes(answers).values()]
    rejected = sum(State.REJECTED in states for states in decided)
    return sum(bool(states) for states in decided) - rejected, rejected


def _count_missed(answers: QuerySet[Response]) -> int:
    """Count answers that gave nothing to ask about, where another answer to the question was accepted downstream."""
    to_the_same = Response.objects.counted().filter(question__in=answers.values("question")).order_by()
    accepted = decisions_about(to_the_same).filter(state=Decision.State.ACCEPTED).order_by()
    could = Response.objects.filter(pk__in=accepted.values("question__source_id")).order_by()
    asked_about = Question.objects.filter(source_type=RESPONSE, source_id=OuterRef("pk"))
    done = answers.filter(~Exists(asked_about), question__in=could.values("question")).select_related("question")
    return sum(
        get_kind(response.question.kind).as_source(response.question.content, response.whole_answer) is None
        for response in done
    )


def _current(study: int, annotator: Annotator) -> QuerySet[Response]:
    return Response.objects.filter(study=study, annotator=annotator, is_current=True).order_by()

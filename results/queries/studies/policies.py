"""The numbers that the policies of a study go by, and where it stands under each."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Exists, Max, OuterRef, Q, QuerySet

from analytics.work.wages import two_clocks
from annotation.check_results import checked_answers, count_passed
from annotation.models import Removal, Response, Session, SessionFlag, SessionState
from annotation.models.responses import LeftOut
from results.models import PolicyAct
from results.queries.paying.study_money import study_money
from results.queries.paying.wages import clocked_sessions
from results.queries.reports.answer_scores import KNOWS_RIGHT, answer_scores, kinds_with_own_scores
from studies.actions.events import What
from studies.design.model import PolicyEntry
from studies.models import Check, Event, Question, Study
from studies.policies import Act, Need, Policy, PolicyFacts, Standing, get_policy


@dataclass(frozen=True)
class PolicyLine:
    """A policy of a study, its standing now, and its last pause.

    facts: the numbers behind the standing. replaced: the last event of asking others, if it does that.
    """

    name: str
    policy: Policy
    facts: PolicyFacts
    standing: Standing
    last: PolicyAct | None
    replaced: Event | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether it has paused the study, and nobody has resumed it since."""
        return self.last is not None and self.last.resumed_at is None

    @property
    def is_over(self) -> bool:
        """Whether it does not act again."""
        return self.last is not None and not self.policy.counts_anew

    @property
    def would_act(self) -> bool:
        return self.standing.crossed and not self.is_waiting and not self.is_over

    @property
    def sentence(self) -> str:
        """Return the numbers, and since when they count if not from the beginning."""
        resumed = f" Counted since it was resumed on {self.since:%-d %B %Y}." if self.since else ""
        return f"{self.standing.sentence}{resumed}"

    @property
    def since(self) -> datetime | None:
        """The resume since which it counts; None if it counts all."""
        return self.last.resumed_at if self.last is not None and self.policy.counts_anew else None


def policy_lines(study: Study) -> list[PolicyLine]:
    """Return where `study` stands under each of its policies, in the order of its study file."""
    if not study.design.policies:
        return []
    acts = {act.policy: act for act in PolicyAct.objects.filter(study=study).order_by("pk")}
    return [_line(study, entry, acts.get(entry.policy)) for entry in study.design.policies]


def _line(study: Study, entry: PolicyEntry, last: PolicyAct | None) -> PolicyLine:
    policy = get_policy(entry.policy)
    since = last.resumed_at if last is not None and policy.counts_anew else None
    facts = FACTS[policy.need](study, since, last.evidence if last is not None and since else {})
    replaced = Event.objects.filter(study=study, what=What.POLICY_REPLACED).order_by("pk")
    return PolicyLine(
        *(entry.policy, policy, facts, policy.judge(entry.parameters, facts), last),
        replaced=replaced.last() if policy.act is Act.REPLACE else None,
    )


def _finished(study: Study, since: datetime | None) -> QuerySet[Session]:
    """Return the finished sessions, without those of people who withdrew."""
    withdrawn = Removal.objects.in_force().withdrawals().filter(project=study.project_id).values("annotator")
    found = Session.objects.filter(study=study, state=SessionState.FINISHED).exclude(annotator__in=withdrawn)
    return found if since is None else found.filter(ended_at__gt=since)


def _flags(study: Study, since: datetime | None, _: Mapping[str, Any]) -> PolicyFacts:
    """Return how many finished sessions are flagged.

    Excluding a person clears their flags, because their answers count no more. They still came by this recruitment: so
    flags that were upheld, and those that an exclusion has cleared, count until they are dismissed.
    """
    sessions = _finished(study, since).order_by()
    excluded = Removal.objects.in_force().filter(
        project=study.project_id,
        why=Removal.Why.EXCLUDED,
        annotator=OuterRef("session__annotator"),
        at__lte=OuterRef("cleared_at"),
    )
    flags = SessionFlag.objects.filter(session__in=sessions).exclude(verdict=SessionFlag.Verdict.DISMISSED)
    counted = flags.filter(Q(cleared_at=None) | Q(verdict=SessionFlag.Verdict.UPHELD) | Exists(excluded))
    return PolicyFacts(sessions=sessions.count(), flagged=counted.order_by().values("session").distinct().count())


def _gold(study: Study, since: datetime | None, _: Mapping[str, Any]) -> PolicyFacts:
    answers = Response.objects.filter(study=study)
    gold = count_passed(checked_answers(answers if since is None else answers.filter(received_at__gt=since)))[
        Check.GOLD
    ]
    return PolicyFacts(gold_answers=gold.of, gold_right=gold.passed)


def _cost(study: Study, _: datetime | None, before: Mapping[str, Any]) -> PolicyFacts:
    spent = cost_so_far(study)
    return PolicyFacts(currency=study.design.pay.currency, cost=spent - Decimal(before.get("cost", 0)))


def cost_so_far(study: Study) -> Decimal:
    """Return what is paid, ordered and still owed for `study`, without fees."""
    money = study_money(study)
    return money.paid + money.on_its_way + money.held + money.still_owed


def _wage(study: Study, since: datetime | None, _: Mapping[str, Any]) -> PolicyFacts:
    wage = two_clocks(clocked_sessions(study, since), ()).own.with_bonuses
    return PolicyFacts(currency=study.design.pay.currency, wage=wage.median, wage_sessions=wage.n)


def _scores(study: Study, _: datetime | None, __: Mapping[str, Any]) -> PolicyFacts:
    """Return the shares right of people who finished, and of questions with all answers, in that order.

    Of somebody with several sessions, the first that finished counts: a confidence sequence needs values that stay as
    they were when they came.
    """
    own = kinds_with_own_scores(study)
    one_label = Response.objects.counted_in(study).exclude(question__kind__in=own).exclude(question__right="")
    rows = one_label.values_list("question", "annotator", "choice", "question__right")
    scores = [(question, who, float(choice == right)) for question, who, choice, right in rows]
    scores += [(each.question, each.annotator, each.score) for each in answer_scores(study)]
    given = Response.objects.counted_in(study).values_list("question", "annotator", "session")
    session_of = {(question, who): session for question, who, session in given}
    by_session, by_question = defaultdict(list), defaultdict(list)
    for question, who, score in scores:
        by_session[session_of.get((question, who))].append(score)
        by_question[question].append(score)
    first: dict[int, int] = {}
    for session, who in _finished(study, None).order_by("ended_at", "pk").values_list("pk", "annotator"):
        if session in by_session:
            first.setdefault(who, session)
    wanted = dict(Question.objects.filter(KNOWS_RIGHT, study=study).values_list("pk", "answers_wanted"))
    last = Response.objects.counted_in(study).values_list("question").annotate(at=Max("received_at"))
    questions = [question for question, _ in sorted(last, key=lambda each: (each[1], each[0]))]
    return PolicyFacts(
        people_right=_means(by_session[session] for session in first.values()),
        questions_right=_means(
            by_question[each]
            for each in questions
            if each in wanted and each in by_question and len(by_question[each]) >= wanted[each]
        ),
    )


def _means(scores: Any) -> Sequence[float]:
    return tuple(sum(each) / len(each) for each in scores)


def _excluded(study: Study, _: datetime | None, __: Mapping[str, Any]) -> PolicyFacts:
    return PolicyFacts(excluded=excluded_in_places(study).filter(is_check=False).count())


def excluded_in_places(study: Study) -> QuerySet[Response]:
    """Return the answers of excluded people to `study` whose place nobody else can get."""
    return Response.objects.filter(
        study=study, is_current=True, slot__isnull=False, left_out=LeftOut.EXCLUDED
    ).order_by()


# What a policy needs -> its numbers, from the study, since a moment, and the evidence of its last act.
FACTS: Mapping[Need, Callable[[Study, datetime | None, Mapping[str, Any]], PolicyFacts]] = {
    Need.FLAGS: _flags,
    Need.GOLD: _gold,
    Need.COST: _cost,
    Need.WAGE: _wage,
    Need.SCORES: _scores,
    Need.EXCLUDED: _excluded,
}

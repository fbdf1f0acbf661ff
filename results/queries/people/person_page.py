"""The page of one person: their sessions, their numbers by study, and their answers as they were shown."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from string import ascii_uppercase
from typing import Any, NamedTuple, cast

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery

from annotation.agreements import Agreement, agreements_of
from annotation.check_results import first_answers, passed_check
from annotation.models import Removal, Response, Session, Skip
from annotation.models.responses import took_ms
from results.models import Pseudonym
from results.queries.instances.instance_history import (
    GivenAnswer,
    History,
    ShownOption,
    answer_name,
    histories,
    right_name,
)
from results.queries.people.annotators import persons_answers
from results.queries.people.participants import flags_of
from results.queries.people.payments_due import SessionLine, session_lines
from results.queries.reports.label_spaces import label_spaces
from results.reports.sections.annotators import PersonInStudy
from studies.kinds import KINDS, QuestionContent, get_kind, in_shown_order, posted_values
from studies.models import Check, Question, Study

PER_PAGE = 20
# In addresses -> which answers of a person are listed; all if there is none.
DIFFERING, CHECKS = "differ", "checks"
ANSWERS = {DIFFERING: "Differ from others", CHECKS: "To checks"}


@dataclass(frozen=True)
class PersonSession:
    """A session of a person, what is owed for it, how many questions it skipped, and which texts it agreed to."""

    session: Session
    line: SessionLine
    skips: int
    agreements: Sequence[Agreement]

    @property
    def amount_owed(self) -> Decimal:
        return self.line.owed.amount()


class ListedAnswers(NamedTuple):
    """How many answers are listed: to ordinary questions, and to checks."""

    ordinary: int
    checks: int


@dataclass(frozen=True)
class ShownCheck:
    """What an answer to a check shows beside. expected: the right answer, for a repeat the first one; "" if unknown.

    passed: None without a result, such as for a repeat whose first answer does not stand.
    """

    title: str
    is_repeat: bool
    passed: bool | None
    expected: str


@dataclass(frozen=True)
class ShownAnswer:
    """An answer of a person. `asked`: its question as they saw it, with the answers of others only.

    given: the answer as it stands; earlier: its earlier versions. seconds: until it was first sent. others: standing
    answers of others. compared: how many of their parts are compared with this one, 0 for a free text; same: how many
    of these are the same. An answer with one label is one part. check: None for an ordinary question.
    """

    asked: History
    given: GivenAnswer
    earlier: Sequence[GivenAnswer]
    seconds: float | None
    others: int
    compared: int
    same: int
    check: ShownCheck | None = None

    @property
    def has_parts(self) -> bool:
        return any(self.given.labels)


def sessions_of(person: Pseudonym) -> list[PersonSession]:
    """Return the sessions of `person` in their project, latest first."""
    sessions = Session.objects.filter(study__project=person.project_id, annotator=person.annotator_id)
    found = list(sessions.select_related("study__project", "consent").order_by("-arrived_at", "-pk"))
    studies = {session.study_id: session.study for session in found}.values()
    lines = {line.pk: line for study in studies for line in session_lines(study, [person.annotator_id])}
    skips = Skip.objects.filter(session__in=found).order_by().values_list("session_id").annotate(n=Count("pk"))
    skipped = dict(skips)
    agreed = agreements_of(sessions)
    return [
        PersonSession(session, lines[session.pk], skipped.get(session.pk, 0), agreed.get(session.pk, ()))
        for session in found
    ]


def owed_by_currency(sessions: Sequence[PersonSession]) -> Mapping[str, Decimal]:
    """Return what is owed for `sessions`, by currency."""
    found: dict[str, Decimal] = defaultdict(Decimal)
    for each in sessions:
        found[each.session.study.design.pay.currency] += each.amount_owed
    return dict(found)


def person_by_study(person: Pseudonym, studies: Sequence[Study]) -> list[PersonInStudy]:
    """Return what the statistics of `person` rest on, for each of `studies`. All annotators have names."""
    found = []
    for study in studies:
        kinds = label_spaces(study)
        answers = list(persons_answers(study, kinds, beside=person.annotator_id))
        flags = flags_of(Session.objects.filter(study=study, annotator=person.annotator_id))
        found.append(PersonInStudy(study.slug, answers, kinds, flags.get(person.annotator_id, ())))
    return found


def answers_of(
    person: Pseudonym, *, study: Study | None, page: Any, which: str = "", session: Session | None = None
) -> Page[Any]:
    """Return one page of the answers of `person` as ShownAnswers, newest first, those to checks among them.

    Answers of somebody who withdrew are left out. which: of ANSWERS, only those that another counted answer differs
    from or only those to checks. session: only of this one, in the order in which they were first sent. The number of
    queries is constant.
    """
    given: QuerySet[Response] = Response.objects.filter(
        study__project=person.project_id, annotator=person.annotator_id, is_current=True
    )
    given = given.exclude(left_out=Removal.Why.WITHDRAWN)
    if study is not None:
        given = given.filter(study=study)
    if which == DIFFERING:
        given = _differing_responses(given)
    elif which == CHECKS:
        given = given.filter(is_check=True)
    given = given.annotate(ms=took_ms()).order_by("-received_at", "-pk")
    if session is not None:
        first = Response.objects.filter(session=OuterRef("session"), question=OuterRef("question"), version=1)
        given = given.filter(session=session).order_by(Subquery(first.values("received_at")), "pk")
    found: Page[Any] = Paginator(given, PER_PAGE).get_page(page)
    responses = list(found.object_list)
    questions = Question.with_checks.filter(pk__in=[one.question_id for one in responses])
    by_question = {each.question.pk: each for each in histories(questions, project=person.project)}
    checks = _shown_checks([one for one in responses if one.is_check], by_question)
    found.object_list = [
        replace(_shown_answer(by_question[one.question_id], one, person.name), check=checks.get(one.pk))
        for one in responses
    ]
    return found


def count_listed(answers: Page[Any]) -> ListedAnswers:
    """Return how many answers are on all pages of `answers`, a page of `answers_of`."""
    listed = cast("QuerySet[Response]", answers.paginator.object_list)
    checks = listed.filter(is_check=True).count()
    return ListedAnswers(answers.paginator.count - checks, checks)


def _shown_checks(responses: Sequence[Response], asked: Mapping[int, History]) -> dict[int, ShownCheck]:
    """Return response -> what it shows as an answer to a check. asked: the history of each question."""
    for one in responses:
        one.question = asked[one.question_id].question
    firsts = first_answers(
        (one.question.source_id, one.annotator_id) for one in responses if one.question.check_type == Check.REPEAT
    )
    found = {}
    for one in responses:
        question, is_repeat = one.question, one.question.check_type == Check.REPEAT
        first = firsts.get((question.source_id, one.annotator_id))
        found[one.pk] = ShownCheck(
            title=question.get_check_type_display(),
            is_repeat=is_repeat,
            passed=passed_check(one, firsts),
            expected=(answer_name(question, first) if first else "") if is_repeat else right_name(question),
        )
    return found


def _differing_responses(given: QuerySet[Response]) -> QuerySet[Response]:
    others = Response.objects.counted().filter(question=OuterRef("question")).exclude(annotator=OuterRef("annotator"))
    by_choice = ~Q(choice="") & Exists(others.exclude(choice=OuterRef("choice")))
    # Answers without a single label are compared as a whole; free texts are never equal.
    compared = [name for name in KINDS if not get_kind(name).is_written]
    as_whole = Q(choice="", question__kind__in=compared) & Exists(others.exclude(answer=OuterRef("answer")))
    return given.filter(by_choice | as_whole)


def _shown_answer(asked: History, response: Any, name: str) -> ShownAnswer:
    mine = [given for given in asked.answers if given.name == name]
    others = [given for given in asked.standing_answers if given.name != name]
    given = next(each for each in mine if (each.version, each.at) == (response.version, response.received_at))
    pairs = [
        (other.labels[part], label) for other in others for part, label in given.labels.items() if part in other.labels
    ]
    return ShownAnswer(
        asked=replace(asked, shown=_in_order(asked, response), options=_options(asked, response, name), answers=others),
        given=given,
        earlier=[each for each in mine if each is not given],
        seconds=None if response.ms is None else response.ms / 1000,
        others=len(others),
        compared=len(pairs),
        same=sum(theirs == label for theirs, label in pairs),
    )


def _in_order(asked: History, response: Response) -> QuestionContent:
    """Return what the question shows, its pictures in the order that the annotator saw."""
    # Pictures that are compared have the key of their option as role, and no key.
    letters = _letters(asked.question, response.shown_order)
    pictures = [
        replace(
            picture,
            key=picture.key or picture.role,
            role=" · ".join(filter(None, [letters.get(picture.role, ""), picture.role])),
        )
        for picture in asked.shown.pictures
    ]
    return replace(asked.shown, pictures=in_shown_order(pictures, response.shown_order))


def _letters(question: Question, order: Sequence[str]) -> Mapping[str, str]:
    """Return option key -> the letter under which the annotator saw it, in their order; "" for fixed options."""
    kind = get_kind(question.kind)
    shuffled = {option.key for option in kind.options(question.content) if option.shuffled}
    shown = posted_values(kind, question.content, order).values()
    return {
        key: ascii_uppercase[n] if key in shuffled and n < len(ascii_uppercase) else "" for n, key in enumerate(shown)
    }


def _options(asked: History, response: Response, name: str) -> Sequence[ShownOption]:
    """Return the options in the order that the annotator saw, with their letters and the chosen one marked."""
    by_key = {option.key: option for option in asked.options}
    return [
        replace(
            by_key[key],
            letter=letter,
            is_own=key == response.choice,
            chosen_by=[other for other in by_key[key].chosen_by if other != name],
        )
        for key, letter in _letters(asked.question, response.shown_order).items()
        if key in by_key
    ]

"""Results of gold questions, instruction checks and repeats, by person, by study and by question."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from analytics.scores import wilson_interval
from annotation.check_results import (
    CheckedAnswer,
    Passed,
    checked_answers,
    count_passed,
    passed_check,
)
from annotation.models import Decision, Removal, Response, Session
from annotation.models.responses import stands
from results.models import Pseudonym
from results.queries.instances.instance_history import answer_name, right_name
from results.reports.base import AnnotatorName
from results.reports.sections.checks import CheckRow
from studies.models import Check, Instance, Question, Study

# Of a study's checks, the first are listed: later ones would be read for each page.
MOST_LISTED = 10_000


@dataclass(frozen=True)
class CheckQuestion:
    """A gold question or instruction check, and the answers to it that stand.

    right: the right answer in words. passed: how many answers are right, of those with a result. wrong: the most
    frequent wrong answer in words, with its number; None if nobody was wrong. decided: what was decided about the
    question that it was copied from, in words, if it is no longer the right answer, "" if nothing; else None.
    """

    question: Question
    right: str
    passed: int
    of: int
    wrong: tuple[str, int] | None
    decided: str | None = None

    @property
    def share(self) -> float | None:
        """The share of right answers, 0 to 1; None without answers."""
        return self.passed / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of `share` (Wilson 1927); None without answers."""
        return wilson_interval(self.passed, self.of)


@dataclass(frozen=True)
class GoldUse:
    """A study with gold questions about an instance. right: the right answer of each, in words.

    is_asked, is_taken_out: any of them is.
    """

    study: Study
    right: Sequence[str]
    is_asked: bool
    is_taken_out: bool


def checks_of_people(study: Study) -> list[CheckRow]:
    """Return a row for everybody who answered a check of `study`, the fewest passed first. All have names."""
    by_person: dict[int, list[CheckedAnswer]] = {}
    for each in checked_answers(_shown().filter(study=study)):
        by_person.setdefault(each.annotator, []).append(each)
    named = Pseudonym.objects.filter(project=study.project_id, annotator__in=by_person)
    names = dict(named.values_list("annotator_id", "name"))
    rows = [
        (_share(checked), names[person], CheckRow(AnnotatorName(names[person]), _numbers(checked)))
        for person, checked in by_person.items()
        if person in names
    ]
    return [row for *_, row in sorted(rows, key=lambda each: each[:2])]


def checks_by_study(person: Pseudonym) -> list[CheckRow]:
    """Return a row for each study of which `person` answered a check, in the order of the studies."""
    given = _shown().filter(study__project=person.project_id, annotator=person.annotator_id)
    study_of = dict(given.filter(is_check=True).values_list("pk", "study_id"))
    by_study: dict[int, list[CheckedAnswer]] = {}
    for each in checked_answers(given):
        by_study.setdefault(study_of[each.response], []).append(each)
    studies = Study.objects.filter(pk__in=by_study).order_by("pk").values_list("pk", "slug")
    return [CheckRow(slug, _numbers(by_study[pk])) for pk, slug in studies]


def check_questions(study: Study) -> list[CheckQuestion]:
    """Return the gold questions and instruction checks of `study`, those that most people fail first.

    Their order follows the upper end of the interval, so that one failed answer does not come before many. Checks
    without answers are last. At most MOST_LISTED, those made first. The number of queries is constant.
    """
    asked = Question.with_checks.filter(study=study, check_type__in=(Check.GOLD, Check.INSTRUCTION))
    listed = list(asked.select_related("instance").order_by("pk")[:MOST_LISTED])
    given = _shown().filter(stands(), study=study, is_check=True).exclude(question__check_type=Check.REPEAT)
    counted: dict[int, list[tuple[Response, int]]] = defaultdict(list)
    answers = given.order_by().values_list("question_id", "choice", "answer").annotate(n=Count("pk"))
    for question, choice, answer, number in answers:
        counted[question].append((Response(choice=choice, answer=answer), number))
    decided = _changed_decisions(listed)
    lines = [_check_question(each, counted[each.pk], decided.get(each.pk)) for each in listed]
    return sorted(lines, key=lambda line: (line.interval is None, (line.interval or (0, 0))[1], line.question.pk))


def _check_question(question: Question, given: Iterable[tuple[Response, int]], decided: str | None) -> CheckQuestion:
    """Return `question` with its results. given: its different answers, and how often each was given."""
    passed = failed = 0
    wrong = Counter[str]()
    for answer, number in given:
        answer.question = question
        result = passed_check(answer, {})
        passed += number if result else 0
        if result is False:
            failed += number
            wrong[answer_name(question, answer)] += number
    most = min(wrong.items(), key=lambda each: (-each[1], each[0]), default=None)
    return CheckQuestion(question, right_name(question), passed, passed + failed, most, decided)


def _changed_decisions(questions: Sequence[Question]) -> dict[int, str]:
    """Return gold question -> what is decided by now about the question it was copied from, if that has changed; "" if
    nothing is."""
    copied = {each.source_id: each for each in questions if each.check_type == Check.GOLD and each.source_id}
    found = {}
    for decision in Decision.objects.filter(question__in=copied).select_related("question"):
        gold = copied[decision.question_id]
        accepted = decision.winner if decision.state == Decision.State.ACCEPTED else ""
        now = "" if decision.question.undone_at else decision.settled_choice or accepted
        if now != gold.right:
            found[gold.pk] = answer_name(gold, Response(choice=now, answer=now)) if now else ""
    return found


def gold_uses(instance: Instance) -> list[GoldUse]:
    """Return the studies that ask about `instance` as gold, or did, in their order."""
    asked = Question.with_checks.filter(instance=instance, check_type=Check.GOLD).select_related("study")
    by_study: dict[Study, list[Question]] = {}
    for each in asked.order_by("study", "pk"):
        by_study.setdefault(each.study, []).append(each)
    return [
        GoldUse(
            study,
            [right_name(each) for each in questions],
            is_asked=any(each.undone_at is None for each in questions),
            is_taken_out=any(each.taken_out_at is not None for each in questions),
        )
        for study, questions in by_study.items()
    ]


def failed_instructions(session: Session | None) -> Passed:
    """Return how many instruction checks `session` passed, and of how many.

    Answers of excluded people are judged too, also after their places were freed.
    """
    if session is None:
        return Passed()
    current = _shown().filter(session=session, is_current=True, question__check_type=Check.INSTRUCTION)
    asked = current.filter(question__taken_out_at=None).select_related("question")
    results = [passed_check(each, {}) for each in asked]
    return Passed(results.count(True), len(results) - results.count(None))


def _shown() -> QuerySet[Response]:
    return Response.objects.exclude(left_out=Removal.Why.WITHDRAWN)


def _numbers(checked: Iterable[CheckedAnswer]) -> Mapping[str, tuple[int, int]]:
    return {check: (each.passed, each.of) for check, each in count_passed(checked).items()}


def _share(checked: Iterable[CheckedAnswer]) -> float:
    with_result = [each.passed for each in checked if each.passed is not None]
    return sum(with_result) / len(with_result) if with_result else 1.0

"""Results of gold questions, instruction checks and repeats, by person and by study."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from annotation.check_results import CheckedAnswer, Passed, checked_answers, count_passed, passed_by_session
from annotation.models import Removal, Response, Session
from results.models import Pseudonym
from results.queries.instances.instance_history import right_name
from results.reports.base import AnnotatorName
from results.reports.sections.checks import CheckRow
from studies.models import Check, Instance, Question, Study


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
    """Return how many instruction checks `session` passed, and of how many, in answers that stand."""
    found = {} if session is None else passed_by_session(Response.objects.filter(session=session))
    return next(iter(found.values()))[Check.INSTRUCTION] if found else Passed()


def _shown() -> QuerySet[Response]:
    return Response.objects.exclude(left_out=Removal.Why.WITHDRAWN)


def _numbers(checked: Iterable[CheckedAnswer]) -> Mapping[str, tuple[int, int]]:
    return {check: (each.passed, each.of) for check, each in count_passed(checked).items()}


def _share(checked: Iterable[CheckedAnswer]) -> float:
    with_result = [each.passed for each in checked if each.passed is not None]
    return sum(with_result) / len(with_result) if with_result else 1.0

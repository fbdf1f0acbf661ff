"""Annotators' reports about the questions of a study, by question."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery

from annotation.models import Removal, Report
from results.models import Pseudonym
from studies.models import Study
from studies.names import name_in_address

QUESTIONS_SHOWN = 50


@dataclass(frozen=True)
class ReportLine:
    """A report; `annotator` is a pseudonym."""

    annotator: str
    reason: str
    words: str
    at: datetime
    instead_of_answer: bool


@dataclass(frozen=True)
class ReportedQuestion:
    """A question and its reports.

    `instance`: the key of its instance; `address`: its form in the address of its page; `reasons`: reports by reason,
    most frequent first.
    """

    question: int
    instance: str
    address: str
    variant: str
    taken_out: bool
    reasons: Sequence[tuple[str, int]]
    reports: Sequence[ReportLine]


@dataclass(frozen=True)
class StudyReports:
    """Counts of a study's reported questions, and the most reported of them."""

    questions: int
    reports: int
    lines: Sequence[ReportedQuestion]


def reports_heard(studies: Iterable[Study]) -> QuerySet[Report]:
    """Return the reports in `studies`; those of people who withdrew are left out."""
    theirs = {"project": OuterRef("study__project"), "annotator": OuterRef("annotator_id")}
    return Report.objects.filter(~Exists(Removal.objects.withdrawals().filter(**theirs)), study__in=studies)


def study_reports(study: Study) -> StudyReports:
    name = Pseudonym.objects.filter(project=study.project_id, annotator=OuterRef("annotator_id")).values("name")
    heard = reports_heard([study])
    counts = dict(heard.order_by().values_list("question_id").annotate(n=Count("pk")))
    most = sorted(counts, key=lambda question: (-counts[question], question))[:QUESTIONS_SHOWN]
    shown = heard.filter(question__in=most).order_by("-at", "-pk").select_related("question__instance")
    found: dict[int, list[Report]] = {question: [] for question in most}
    for report in shown.annotate(pseudonym=Subquery(name[:1])):
        found[report.question_id].append(report)
    # Somebody may have withdrawn between the two queries.
    lines = [_question(of_one) for of_one in found.values() if of_one]
    return StudyReports(questions=len(counts), reports=sum(counts.values()), lines=lines)


def _question(reports: Sequence[Report]) -> ReportedQuestion:
    question = reports[0].question
    return ReportedQuestion(
        question=question.pk,
        instance=question.instance.key,
        address=name_in_address(question.instance.key, pk=question.instance_id),
        variant=question.variant,
        taken_out=question.taken_out_at is not None,
        reasons=Counter(report.get_reason_display() for report in reports).most_common(),
        reports=[
            ReportLine(
                annotator=getattr(report, "pseudonym", None) or "",
                reason=report.get_reason_display(),
                words=report.words,
                at=report.at,
                instead_of_answer=report.instead_of_answer,
            )
            for report in reports
        ],
    )

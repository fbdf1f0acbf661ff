"""Numbers of large studies and projects: made in the background, kept with the moment they are of, and made again when
somebody looks at them and something has happened since."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Q, QuerySet, Sum

from annotation.models import Decision, Removal, Session
from background.jobs import cancel, request_job
from background.models import UNFINISHED, Job, JobState
from background.work import RunningJob, Work
from predictions.models import Prediction
from results.actions.pseudonyms import name_annotators
from results.actions.update_instance_stats import count_figures
from results.models import InstanceFigures, KeptNumbers
from results.queries.exports.export_rows import rating_summaries
from results.queries.people.annotators import persons_answers
from results.queries.people.text_authors import kinds_written, writing_in
from results.queries.reports.answers import answer_details, answer_times, facts_alone
from results.queries.reports.label_spaces import answerable_in, with_all_labels
from results.queries.reports.report_rows import project_facts
from results.queries.studies.progress import study_progress
from results.reports.base import Report
from results.reports.build import report_of
from results.reports.page_tables import Finding, findings_of, plain
from results.reports.sections.annotators import annotators_table
from results.reports.study_report import report_of_study
from studies.actions.projects.datasets import dataset_studies
from studies.models import Event, Instance, Project, Question, Study

# Numbers of more answers than this are not made while somebody waits for the page.
MADE_AT_ONCE = 20_000
# While answers come in, numbers are made again this often at most.
NEW_AT_MOST_EVERY = timedelta(minutes=1)
# Those who agree least with the others stand first.
MOST_ANNOTATORS = 1_000

# Raised when what is kept changes its form or what it means, so that older numbers are made anew instead of misread.
FORM = "12"

KIND = "results.numbers"
Page = KeptNumbers.Page


@dataclass(frozen=True)
class Found:
    """Kept numbers as somebody found them. `error` says why they could not be made anew the last time, `to_send` is
    the job of one who is the first to ask for them."""

    pk: int
    content: Any
    as_of: datetime | None
    is_current: bool
    error: str
    to_send: Job | None


def is_large(answers: int) -> bool:
    return answers > MADE_AT_ONCE


def is_large_to_count(project: Project, answers: int) -> bool:
    """Tell whether what became of the instances of `project` takes too long to count for somebody who waits."""
    most = Question.objects.filter(study__project=project).order_by().values("pk")[: MADE_AT_ONCE // 4 + 1]
    return is_large(4 * answers) or is_large(4 * most.count())


def look_up(*, page: Page, project: Project, study: Study | None = None, now: datetime) -> Found:
    """Return what is kept for a page, and whether whoever looks is to have it made anew."""
    kept, _ = KeptNumbers.objects.get_or_create(page=page, study=study, project=project)
    is_current = kept.as_of is not None and kept.fingerprint == _fingerprint(page, project, study)
    failed = None if is_current else _failed(kept)
    times = (kept.as_of, failed.finished_at if failed else None)
    to_send = None
    if not is_current and all(at is None or at <= now - NEW_AT_MOST_EVERY for at in times):
        job, is_new = request_job(kind=KIND, arguments={"kept": kept.pk}, by=None, now=now, key=str(kept.pk))
        to_send = job if is_new else None
    error = failed.error if failed else ""
    if not kept.fingerprint.startswith(f"{FORM} "):
        return Found(kept.pk, None, None, False, error, to_send)
    return Found(kept.pk, kept.content, kept.as_of, is_current, error, to_send)


def _failed(kept: KeptNumbers) -> Job | None:
    """Return the last job of `kept` if it failed; one that is at it again has not."""
    last = Job.objects.filter(kind=KIND, key=str(kept.pk)).order_by("-pk").first()
    return last if last and last.state == JobState.FAILED else None


def made_at_once(*, page: Page, project: Project, now: datetime) -> None:
    """Make what a page of a small project rests on while somebody waits, if anything has happened since it was made."""
    kept, _ = KeptNumbers.objects.get_or_create(page=page, study=None, project=project)
    make(kept=kept, now=now)


def make(*, kept: KeptNumbers, now: datetime, keep: Callable[[], None] = lambda: None) -> None:
    """Make kept numbers anew, unless nothing has happened since they were made.

    `keep` is called in the transaction that stores them, and raises where they are not wanted any more.
    """
    # Before anything is read, so that what comes meanwhile makes them old, and never goes unnoticed.
    fingerprint = _fingerprint(Page(kept.page), kept.project, kept.study)
    if kept.as_of is not None and kept.fingerprint == fingerprint:
        return
    content = None
    if Page(kept.page) is Page.INSTANCES:
        count_figures(kept.project, keep)
    else:
        content = _MAKERS[Page(kept.page)](kept.study or kept.project)
    with transaction.atomic():
        keep()
        KeptNumbers.objects.filter(pk=kept.pk).update(content=content, fingerprint=fingerprint, as_of=now)


def _make(job: RunningJob) -> None:
    kept = KeptNumbers.objects.select_related("project", "study__project").filter(pk=job.arguments["kept"]).first()
    if kept is not None:
        make(kept=kept, now=job.now(), keep=job.check)


NUMBERS = Work(run=_make, trouble="The server could not make these numbers.", days_kept=1)


def drop(*, project: Project, now: datetime) -> None:
    """Let no page of `project` show numbers that were kept, nor those that are being made of what was read before."""
    kept = KeptNumbers.objects.filter(project=project)
    # First the jobs: one that is about to store its numbers does so before this goes on, or not at all.
    for job in Job.objects.filter(
        kind=KIND, key__in=[str(pk) for pk in kept.values_list("pk", flat=True)], state__in=UNFINISHED
    ):
        cancel(job=job, now=now)
    kept.update(content=None, fingerprint="", as_of=None)
    InstanceFigures.objects.filter(study__project=project).delete()


def _fingerprint(page: Page, project: Project, study: Study | None) -> str:
    """Return in a few words all that the numbers depend on; equal words mean that nothing has happened.

    An answer, also a changed one, moves its session on; a draw, a researcher's settling, and who asks for more answers
    change the decisions.
    """
    studies = Study.objects.filter(project=project) if study is None else _told_of(study)
    if page is Page.INSTANCES:
        return " ".join([FORM, *_what_came_last(project, studies)])
    facts = [_sessions(studies), _decisions(studies), _removals(project)]
    if study is None:
        facts.append(studies.aggregate(Count("pk"), Max("launched_at")))
        facts.append({"dataset": [study.pk for study in dataset_studies(project)]})
    if page in {Page.STUDY_RESULTS, Page.PROJECT_RESULTS}:
        # Models stand beside people, under names that say whether they read the project's own captions.
        facts.append(Instance.objects.filter(project=project).aggregate(Count("pk"), Max("pk")))
        facts.append(Prediction.objects.about(project).aggregate(Count("pk"), Max("pk")))
        facts.append({"models": list(project.models.values_list("pk", "name", "version"))})
    return " ".join([FORM, *(str(value) for each in facts for value in each.values())])


def _what_came_last(project: Project, studies: QuerySet[Study]) -> list[str]:
    """Return all that figures of instances depend on, without a look at every row of a project of 100,000 instances.

    Whatever a researcher or a program changes leaves an event.
    """
    latest: list[QuerySet[Any]] = [
        Event.objects.filter(project=project),
        Decision.objects.filter(study__in=studies),
        Prediction.objects.about(project),
    ]
    rows = [rows.order_by("-pk").values_list("pk", flat=True).first() for rows in latest]
    facts = [*_sessions(studies).values(), *_removals(project).values(), *rows]
    return [*map(str, facts), str(list(project.models.values_list("pk", flat=True)))]


def _told_of(study: Study) -> QuerySet[Study]:
    """Return the studies that the numbers of `study` tell of: itself, the one whose answers it asks about, and those
    that ask about its answers."""
    told = {study.pk, *(feed.pk for feed in study.feeds.all() if feed.design.asks_about_answers)}
    if study.fed_by_id is not None and study.design.asks_about_answers:
        told.add(study.fed_by_id)
    return Study.objects.filter(pk__in=told)


def _sessions(studies: QuerySet[Study]) -> Mapping[str, Any]:
    sessions = Session.objects.filter(study__in=studies)
    times = [Max(name) for name in ("last_seen_at", "ended_at", "handed_back_at")]
    return sessions.aggregate(Count("pk"), Sum("questions_answered"), *times)


def _removals(project: Project) -> Mapping[str, Any]:
    """Whose answers count, and which places were opened again: each leaves its moment on a removal."""
    moments = [Max(name) for name in ("at", "ended_at", "slots_opened_at")]
    return Removal.objects.filter(project=project).aggregate(Count("pk"), *moments)


def _decisions(studies: QuerySet[Study]) -> Mapping[str, Any]:
    settled = Count("pk", filter=~Q(settled_choice=""))
    return Decision.objects.filter(study__in=studies).aggregate(
        Count("pk"), Max("decided_at"), Max("more_asked_at"), settled=settled
    )


def whole_report(study: Study) -> Report:
    """Return the report of a study alone, from all its answers."""
    alone = facts_alone(study)
    details = answer_details(study, alone.studies[0].answerable)
    writing = None
    if kinds_written(study):
        # Those who wrote stand there under their names.
        name_annotators(project=study.project)
        writing = writing_in(study)
    return report_of_study(alone, details, answer_times(study), writing)


def _study_results(study: Study) -> Any:
    report = whole_report(study)
    return plain(list(findings_of(report)))


def _study_progress(study: Study) -> Any:
    return asdict(study_progress(study))


def _study_ratings(study: Study) -> Any:
    return [asdict(each) for each in rating_summaries(study)]


def _study_annotators(study: Study) -> Any:
    return plain(annotators_findings(study))


def annotators_findings(study: Study) -> list[Finding]:
    """Return the one table of a study's annotators, under their pseudonyms; none when nobody has answered."""
    name_annotators(project=study.project)
    kinds = with_all_labels(study, answerable_in(study))
    table = annotators_table(list(persons_answers(study, kinds)), kinds, study=study.slug)
    return list(findings_of(Report(table.title, [table] if table.rows else [], []), most_rows=MOST_ANNOTATORS))


def _project_results(project: Project) -> Any:
    return plain(list(findings_of(report_of(project_facts(project)))))


_MAKERS: Mapping[Page, Callable[[Any], Any]] = {
    Page.STUDY_RESULTS: _study_results,
    Page.STUDY_PROGRESS: _study_progress,
    Page.STUDY_RATINGS: _study_ratings,
    Page.STUDY_ANNOTATORS: _study_annotators,
    Page.PROJECT_RESULTS: _project_results,
}

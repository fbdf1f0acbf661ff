"""Cached statistics of large studies and projects.

They are computed in the background, stored with the time of their data, and computed again when somebody looks at them
after a change.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, Subquery, Sum

from annotation.models import Decision, Removal, Session
from background.jobs import cancel, request_job
from background.models import UNFINISHED, Job, JobState
from background.work import RunningJob, Work
from predictions.models import Prediction
from predictions.queries.progress import prediction_counts
from results.actions.pseudonyms import name_annotators
from results.actions.reports import named_facts
from results.actions.update_instance_stats import count_figures
from results.exporting.model_card import scores_by_model
from results.models import InstanceFigures, KeptNumbers, StoredChart
from results.queries.exports.export_rows import rating_summaries
from results.queries.instances.disagreements import DISAGREE, different_answers
from results.queries.instances.facets import facet_table
from results.queries.packed_numbers import pack_ids
from results.queries.people.annotators import persons_answers
from results.queries.people.participants import named_flags
from results.queries.people.text_authors import study_writing, written_kinds
from results.queries.reports.answers import answer_details, answer_times, facts_alone
from results.queries.reports.label_spaces import label_spaces, with_all_labels
from results.queries.studies.activity import study_activity
from results.queries.studies.navigation import FrameNumbers
from results.queries.studies.overview import CardNumbers, Totals, count_totals, read_answers, read_spending
from results.queries.studies.progress import paid_sessions, study_progress
from results.queries.studies.questions import question_orders
from results.replica import reading_primary
from results.reports.base import Chart, Report, Table
from results.reports.build import report_of, report_of_study
from results.reports.cards import StudyAnswers
from results.reports.page_tables import PageTable, page_cards, page_table, plain_cards, plain_table, without_undefined
from results.reports.sections.annotators import annotators_table, speed_chart
from results.reports.sections.models import model_shares
from results.reports.sections.participants import PersonNumbers, people_numbers
from studies.actions.events import What
from studies.models import Event, Instance, Project, Question, Study

# Statistics of more answers than this are computed in the background.
MADE_AT_ONCE = 20_000
# While answers come in, statistics are updated at most this often.
NEW_AT_MOST_EVERY = timedelta(minutes=1)
# The annotators with the lowest agreement come first.
MOST_ANNOTATORS = 200

# Raised when the stored form or its meaning changes, so that older statistics are recomputed and not misread.
FORM = "30"

KIND = "results.numbers"
Page = KeptNumbers.Page


@dataclass(frozen=True)
class CachedStatistics:
    """Stored statistics as a page finds them.

    `error`: why the last computation failed. `to_send`: the job that the first request for an update has to enqueue.
    `in_background`: whether it computes them, because they take too long for a request.
    """

    pk: int
    numbers: Any
    as_of: datetime | None
    is_current: bool
    error: str
    to_send: Job | None
    in_background: bool = True


def is_large(answers: int) -> bool:
    return answers > MADE_AT_ONCE


def takes_long_to_count(project: Project, answers: int) -> bool:
    """Whether counting the outcomes of the instances of `project` takes too long for a request.

    answers: the number of answers that its annotators have sent.
    """
    if is_large(4 * answers):
        return True
    questions = Question.objects.filter(study__project=project).order_by().values("pk")
    instances = Instance.objects.filter(project=project).order_by().values("pk")
    # The first of each that is too many.
    question, instance = questions[MADE_AT_ONCE // 4 :][:1], instances[MADE_AT_ONCE:][:1]
    return Project.objects.filter(Exists(question) | Exists(instance), pk=project.pk).exists()


def look_up(*, page: Page, project: Project, study: Study | None = None, now: datetime) -> CachedStatistics:
    """Return the stored statistics of a page, with the job to enqueue if they need an update."""
    kept, _ = KeptNumbers.objects.get_or_create(page=page, study=study, project=project)
    # Jobs compute from the primary: beside a replica that is behind, what they store would look old.
    with reading_primary():
        is_current = kept.as_of is not None and kept.fingerprint == _fingerprint(page, project, study)
    failed = None if is_current else _failed_job(kept)
    times = (kept.as_of, failed.finished_at if failed else None)
    to_send = None
    if not is_current and all(at is None or at <= now - NEW_AT_MOST_EVERY for at in times):
        job, is_new = request_job(kind=KIND, arguments={"kept": kept.pk}, by=None, now=now, key=str(kept.pk))
        to_send = job if is_new else None
    error = failed.error if failed else ""
    if not kept.fingerprint.startswith(f"{FORM} "):
        return CachedStatistics(kept.pk, None, None, False, error, to_send)
    return CachedStatistics(kept.pk, kept.content, kept.as_of, is_current, error, to_send)


def _failed_job(kept: KeptNumbers) -> Job | None:
    """Return the last job of `kept` if it failed and is not running again."""
    last = Job.objects.filter(kind=KIND, key=str(kept.pk)).order_by("-pk").first()
    return last if last and last.state == JobState.FAILED else None


def stored_frame_numbers(project: Project) -> FrameNumbers | None:
    """Return the numbers that were stored last for the overview of `project`, None without any. Takes one query."""
    kept = KeptNumbers.objects.filter(project=project, page=Page.INSTANCES, fingerprint__startswith=f"{FORM} ")
    row = kept.values_list("as_of", "content__totals__answers", "content__totals__spending").first()
    if row is None or row[1] is None:
        return None
    as_of, answers, spending = row
    return FrameNumbers(read_answers(answers), read_spending(spending), as_of)


def large_projects(projects: QuerySet[Project]) -> list[Project]:
    """Return those of `projects` that have so many questions or instances that counting takes too long for a request.

    As `takes_long_to_count`, in one query, for projects whose answers are not known.
    """
    questions = Question.objects.filter(study__project=OuterRef("pk")).order_by().values("pk")
    instances = Instance.objects.filter(project=OuterRef("pk")).order_by().values("pk")
    question, instance = questions[MADE_AT_ONCE // 4 :][:1], instances[MADE_AT_ONCE:][:1]
    return list(projects.filter(Exists(question) | Exists(instance)))


def stored_card_numbers(projects: Collection[Project]) -> dict[int, CardNumbers]:
    """Return the id of each of `projects` -> the numbers that were stored last; without those that have none."""
    if not projects:
        return {}
    kept = KeptNumbers.objects.filter(project__in=projects, page=Page.INSTANCES, fingerprint__startswith=f"{FORM} ")
    found = {}
    for project, as_of, counts, stored in kept.values_list("project", "as_of", "content__counts", "content__totals"):
        if as_of is None or stored is None:
            continue
        totals = Totals.read(stored)
        answers = sum(each.given for each in totals.answers.values())
        found[project] = CardNumbers(as_of, sum(counts), answers, totals.dataset, totals.asked, totals.conflicts.final)
    return found


def has_news(project: Project, *, since: datetime, now: datetime) -> bool:
    """Whether anybody has done anything in `project` since its numbers were stored, and new ones may be computed."""
    if since > now - NEW_AT_MOST_EVERY:
        return False
    events = Event.objects.filter(project=project, at__gt=since)
    return events.exists() or Session.objects.filter(study__project=project, last_seen_at__gt=since).exists()


def compute_now(*, page: Page, project: Project, now: datetime) -> CachedStatistics:
    """Return what a page of a small project needs, computed now if anything changed since the last time."""
    kept, _ = KeptNumbers.objects.get_or_create(page=page, study=None, project=project)
    content = make(kept=kept, now=now)
    return CachedStatistics(kept.pk, content, now, True, "", None, in_background=False)


def make(*, kept: KeptNumbers, now: datetime, keep: Callable[[], None] = lambda: None) -> Any:
    """Compute stored statistics again, unless nothing changed since they were computed; return them.

    `keep` is called in the transaction that stores them and raises when they are no longer wanted.
    """
    # Set before reading, so that concurrent changes mark the statistics as old.
    fingerprint = _fingerprint(Page(kept.page), kept.project, kept.study)
    if kept.as_of is not None and kept.fingerprint == fingerprint:
        return kept.content
    if Page(kept.page) is Page.INSTANCES:
        count_figures(kept.project, keep)
        content: Any = project_content(kept.project, now=now)
    else:
        content = _MAKERS[Page(kept.page)](kept.study or kept.project)
    with transaction.atomic():
        keep()
        KeptNumbers.objects.filter(pk=kept.pk).update(content=content, fingerprint=fingerprint, as_of=now)
    return content


def project_content(project: Project, *, now: datetime) -> dict[str, Any] | None:
    """Return the facets of the instances of `project`, and the totals of its overview, as JSON; None without facets."""
    table = facet_table(project)
    return {**table.dump(), "totals": count_totals(project, now=now).dump()} if table else None


def _make(job: RunningJob) -> None:
    kept = KeptNumbers.objects.select_related("project", "study__project").filter(pk=job.arguments["kept"]).first()
    if kept is not None:
        make(kept=kept, now=job.now(), keep=job.check)


NUMBERS = Work(run=_make, trouble="The server could not compute these numbers.", days_kept=1)


def drop(*, project: Project, now: datetime) -> None:
    """Delete the stored statistics and charts of `project` and cancel those being computed from old data."""
    kept = KeptNumbers.objects.filter(project=project)
    # Jobs first: a job about to store its statistics does so before this continues, or not at all.
    for job in Job.objects.filter(
        kind=KIND, key__in=[str(pk) for pk in kept.values_list("pk", flat=True)], state__in=UNFINISHED
    ):
        cancel(job=job, now=now)
    kept.update(content=None, fingerprint="", as_of=None)
    InstanceFigures.objects.filter(study__project=project).delete()
    StoredChart.objects.filter(project=project).delete()


def drop_withdrawn(*, event: Event) -> None:
    """Drop the statistics that hold the answers of somebody who has withdrawn, whoever recorded it."""
    if event.what == What.ANNOTATOR_WITHDRAWN:
        drop(project=event.project, now=event.at)


def _fingerprint(page: Page, project: Project, study: Study | None) -> str:
    """Return a short text of all that the statistics depend on; equal texts mean that nothing changed.

    An answer, new or edited, updates its session. A draw adds decisions. Each change by a researcher or a program
    leaves an event. So not every row of a project with 100,000 instances is read.
    """
    studies = Study.objects.filter(project=project) if study is None else _covered_studies(study)
    events = Event.objects.filter(project=project)
    if study is not None:
        events = events.filter(Q(study__in=studies) | Q(study=None))
    facts = [*_sessions(studies).values(), *_removals(project).values()]
    facts += [_last(events), _last(Decision.objects.filter(study__in=studies))]
    if page in {Page.INSTANCES, Page.STUDY_RESULTS, Page.PROJECT_RESULTS}:
        # Models are listed beside people, under names that say whether they read the project's own captions.
        facts += [_last(Instance.objects.filter(project=project)), _models(project)]
    return " ".join([FORM, *map(str, facts)])


def _models(project: Project) -> list[tuple[Any, ...]]:
    """Return the models of `project`, each with its latest prediction: others go only when newer ones replace them."""
    latest = Prediction.objects.filter(model=OuterRef("pk")).order_by("-pk").values("pk")[:1]
    return list(project.models.values_list("pk", "name", "version", Subquery(latest)))


def _last(rows: QuerySet[Any]) -> int | None:
    """Return the highest id of `rows`."""
    last: int | None = rows.order_by("-pk").values_list("pk", flat=True).first()
    return last


def _covered_studies(study: Study) -> QuerySet[Study]:
    """Return the studies that statistics of `study` cover: itself, its source and the studies about its answers."""
    told = {study.pk, *(feed.pk for feed in study.feeds.all() if feed.design.asks_about_answers)}
    if study.fed_by_id is not None and study.design.asks_about_answers:
        told.add(study.fed_by_id)
    return Study.objects.filter(pk__in=told)


def _sessions(studies: QuerySet[Study]) -> Mapping[str, Any]:
    sessions = Session.objects.filter(study__in=studies)
    times = [Max(name) for name in ("last_seen_at", "ended_at", "handed_back_at", "times_accepted_at")]
    return sessions.aggregate(Count("pk"), Sum("questions_answered"), *times)


def _removals(project: Project) -> Mapping[str, Any]:
    """Return the latest times of removals: they exclude and include annotators and which places were opened again."""
    moments = [Max(name) for name in ("at", "ended_at", "slots_opened_at")]
    return Removal.objects.filter(project=project).aggregate(Count("pk"), *moments)


def whole_report(study: Study) -> Report:
    """Return the report of one study from all its answers."""
    name_annotators(project=study.project)
    alone = facts_alone(study)
    details = answer_details(study, alone.studies[0].label_spaces)
    writing = None
    if written_kinds(study):
        writing = study_writing(study)
    return report_of_study(alone, StudyAnswers(details, answer_times(study), writing))


def annotators_of(study: Study) -> tuple[Table, Chart]:
    """Return the table of a study's annotators under their pseudonyms, and the chart of their agreement and speed."""
    name_annotators(project=study.project)
    kinds = with_all_labels(study, label_spaces(study))
    answers = list(persons_answers(study, kinds))
    chart = replace(speed_chart(answers), name=f"{study.slug}-speed")
    return annotators_table(answers, kinds, study=study.slug, flags=named_flags(study)), chart


def numbers_of_people(project: Project) -> dict[str, PersonNumbers]:
    """Return the pseudonym of everybody with a counted answer in `project` -> their numbers."""
    name_annotators(project=project)
    studies = Study.objects.filter(project=project, launched_at__isnull=False)
    return people_numbers(persons_answers(study, label_spaces(study)) for study in studies)


def annotators_page(study: Study) -> tuple[list[PageTable], Chart]:
    """Return the table of a study's annotators for its page, none without answers, and its chart."""
    table, chart = annotators_of(study)
    return [page_table(without_undefined(table), most_rows=MOST_ANNOTATORS)] if table.rows else [], chart


def _plain_annotators(study: Study) -> dict[str, Any]:
    tables, chart = annotators_page(study)
    return {"tables": [plain_table(table) for table in tables], "chart": asdict(chart)}


def _plain_results(report: Report) -> dict[str, Any]:
    """Return the cards of a project's report, of each model how often it is right, and its scores, as JSON."""
    shares = {model: asdict(share) for model, share in model_shares(report).items()}
    scores = {model: [one.to_plain() for one in found] for model, found in scores_by_model(report).items()}
    return {"cards": plain_cards(page_cards(report)), "models": shares, "scores": scores}


_MAKERS: Mapping[Page, Callable[[Any], Any]] = {
    Page.STUDY_RESULTS: lambda study: plain_cards(page_cards(whole_report(study))),
    Page.STUDY_PROGRESS: lambda study: {
        **asdict(study_progress(study)),
        "activity": study_activity(study, paid_sessions(study)).dump(),
    },
    Page.STUDY_RATINGS: lambda study: [asdict(each) for each in rating_summaries(study)],
    Page.STUDY_QUESTIONS: lambda study: {**question_orders(study), DISAGREE: pack_ids(different_answers(study))},
    Page.STUDY_ANNOTATORS: _plain_annotators,
    Page.PROJECT_PEOPLE: lambda project: {
        name: asdict(numbers) for name, numbers in numbers_of_people(project).items()
    },
    Page.PROJECT_RESULTS: lambda project: {
        **_plain_results(report_of(named_facts(project))),
        "predictions": {str(pk): asdict(counts) for pk, counts in prediction_counts(project).items()},
    },
}

"""Numbers of the pages of all projects and of one project, counted by the database."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from django.db.models import Count, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from analytics.outcomes import Outcome
from annotation.models import Decision, Response, Session, Slot
from annotation.models.outcomes import accepted_items, question_is
from results.queries.instances.instance_list import images_of
from results.queries.studies.live_study_status import waiting_at_first
from results.queries.studies.progress import Answers
from results.reports.explorer_links import narrowed_to
from studies.actions.projects.datasets import dataset_studies
from studies.actions.questions import roles_asked, selected_instances
from studies.models import Event, Instance, InstanceImage, Project, Study, StudyState

# Pictures of a project on the home page.
MOSAIC = 4
# Latest accepted instances on the overview.
ACCEPTED_SHOWN = 6
# Databases limit how many queries one statement joins.
MOST_JOINED = 100


def with_answers_sent(rows: QuerySet[Any], *, study: str) -> QuerySet[Any]:
    """Annotate `rows` with `answers_sent`; `study` leads from a session to the row."""
    sessions = Session.objects.filter(**{study: OuterRef("pk")}).order_by().values(study)
    sent = Subquery(sessions.annotate(n=Sum("questions_answered")).values("n"))
    counted: QuerySet[Any] = rows.annotate(answers_sent=Coalesce(sent, 0))
    return counted


def answers_sent(row: Study | Project) -> int:
    """Return the number of answers in all sessions, as `with_answers_sent` counted them."""
    return int(vars(row)["answers_sent"])


def project_counts(projects: QuerySet[Project]) -> QuerySet[Project]:
    """Annotate `projects` with counts (`instance_count`, `study_count`, `open_study_count`, `answer_count`), with
    `last_change`, the time of the latest event, and with `first_instance`, an id or None."""
    first = Instance.objects.filter(project=OuterRef("pk")).order_by("pk")
    latest = Event.objects.filter(project=OuterRef("pk")).order_by("-pk")
    answers = Response.objects.counted().filter(study__project=OuterRef("pk"))
    return projects.annotate(
        instance_count=_count(Instance.objects.filter(project=OuterRef("pk")), "project"),
        study_count=_count(Study.objects.filter(project=OuterRef("pk")), "project"),
        open_study_count=_count(Study.objects.filter(project=OuterRef("pk"), state=StudyState.OPEN), "project"),
        answer_count=_count(answers, "study__project"),
        last_change=Subquery(latest.values("at")[:1]),
        first_instance=Subquery(first.values("pk")[:1]),
    )


def mosaics(projects: Sequence[Project]) -> dict[int, list[InstanceImage]]:
    """Return the id of each project -> pictures of its first instance, read with `project_counts`."""
    owners = {vars(project)["first_instance"]: project.pk for project in projects}
    found: dict[int, list[InstanceImage]] = {project.pk: [] for project in projects}
    uses = InstanceImage.objects.filter(instance__in=[pk for pk in owners if pk], image__isnull=False)
    for use in uses.order_by("role", "position", "pk"):
        found[owners[use.instance_id]].append(use)
    return {project: images[:MOSAIC] for project, images in found.items()}


def accepted_counts(projects: Iterable[Project]) -> dict[int, int]:
    """Return the id of each project with a dataset -> how many items its studies have accepted, each item once."""
    studies = Study.objects.filter(in_dataset=True, project__in=list(projects)).order_by("launched_at", "pk")
    of_project: dict[int, list[Study]] = {}
    counted = []
    for study in studies.defer("source"):
        before = of_project.setdefault(study.project_id, [])
        items = accepted_items(study, except_in=before).values_list("study__project").annotate(n=Count("pk"))
        counted.append(items.values_list("study__project", "n"))
        before.append(study)
    found = Counter(dict.fromkeys(of_project, 0))
    for start in range(0, len(counted), MOST_JOINED):
        first, *others = counted[start : start + MOST_JOINED]
        for project, n in first.union(*others, all=True):
            found[project] += n
    return found


def _count(rows: QuerySet[Any], group: str) -> Coalesce:
    return Coalesce(Subquery(rows.order_by().values(group).annotate(n=Count("pk")).values("n")), 0)


@dataclass(frozen=True)
class StudyLine:
    """A study with its progress. `waits_for`: what a live study without questions waits for, "" for others."""

    study: Study
    answers: Answers
    waits_for: str = ""


def answers_by_study(project: Project) -> dict[int, Answers]:
    """Return the id of each study with questions -> its progress."""
    slots = Slot.objects.wanted().filter(seat__study__project=project).order_by().values_list("seat__study_id")
    counted = Response.objects.counted().filter(study__project=project).order_by()
    given = dict(counted.values_list("study_id").annotate(n=Count("pk")))
    return {study: Answers(given.get(study, 0), wanted) for study, wanted in slots.annotate(wanted=Count("pk"))}


def study_lines(project: Project, *, now: datetime, answers: Mapping[int, Answers] | None = None) -> list[StudyLine]:
    """Return the studies of `project` with their progress, latest first. answers: of `answers_by_study`, if known."""
    answers = answers_by_study(project) if answers is None else answers
    studies = list(Study.objects.filter(project=project).defer("source", "design"))
    waiting = waiting_at_first([study.pk for study in studies if study.pk not in answers], now=now)
    return [StudyLine(study, answers.get(study.pk, Answers(0, 0)), waiting.get(study.pk, "")) for study in studies]


@dataclass(frozen=True)
class Categories:
    """Instances by type (rows) and subtype (columns); "" if the source names none.

    Each count and each row total has the query of its list.
    """

    subtypes: Sequence[str]
    rows: Sequence[tuple[str, Sequence[tuple[int, str]], int, str]]
    total: int


def count_categories(project: Project) -> dict[tuple[str, str], int]:
    """Return the number of instances of each type and subtype."""
    counted = Instance.objects.filter(project=project).order_by().values_list("type", "subtype")
    return {(type, subtype): n for type, subtype, n in counted.annotate(n=Count("pk"))}


def categories(cells: Mapping[tuple[str, str], int]) -> Categories:
    """Return the table of what `count_categories` counted."""
    types = sorted({type for type, _ in cells})
    subtypes = sorted({subtype for _, subtype in cells})
    rows = []
    for type in types:
        counts = [
            (cells.get((type, subtype), 0), narrowed_to([(type, subtype)], is_type=False)) for subtype in subtypes
        ]
        rows.append((type, counts, sum(count for count, _ in counts), narrowed_to([(type, "")], is_type=True)))
    return Categories(subtypes, rows, sum(cells.values()))


@dataclass(frozen=True)
class Figures:
    """Numbers of a project: answers that count and those wanted so far, and people who gave at least one."""

    answers: int
    wanted: int
    people: int


def figures_of(project: Project, lines: Sequence[StudyLine]) -> Figures:
    people = Session.objects.filter(study__project=project, questions_answered__gt=0)
    given, wanted = (sum(getattr(line.answers, name) for line in lines) for name in ("given", "wanted"))
    return Figures(given, wanted, people.values("annotator_id").distinct().count())


def count_conflicts(*projects: Project) -> Mapping[int, int]:
    """Return the number of questions per study with all answers and no outcome that will not be asked again."""
    conflicting = Decision.objects.filter(question_is(Outcome.CONFLICTING, accepts=True), study__project__in=projects)
    counted = conflicting.order_by().values_list("study", "asks_more", "answers").annotate(n=Count("pk"))
    most = {study.pk: study.most_answers for study in Study.objects.filter(pk__in={row[0] for row in counted})}
    found = Counter[int]()
    for study, asks_more, answers, number in counted:
        if not (asks_more and answers < most[study]):
            found[study] += number
    return found


def latest_accepted(study: Study, most: int) -> list[int]:
    """Return the ids of the instances that `study` accepted last, newest first."""
    # Of several questions about an instance each is accepted by itself: more than enough are looked at.
    decisions = Decision.objects.filter(question_is(Outcome.ACCEPTED, accepts=True), study=study)
    latest = decisions.order_by("-decided_at", "-pk").values_list("question__instance_id", flat=True)
    candidates = list(dict.fromkeys(latest[: 10 * most]))
    accepted = set(
        accepted_items(study).filter(question__instance__in=candidates).values_list("question__instance", flat=True)
    )
    return [pk for pk in candidates if pk in accepted][:most]


def with_pictures(instances: Sequence[int]) -> list[tuple[Instance, list[InstanceImage]]]:
    """Return the instances with these ids, in this order, each with its pictures."""
    found = Instance.objects.in_bulk(instances)
    images = images_of(found.values())
    return [(found[pk], images[pk]) for pk in instances if pk in found]


@dataclass(frozen=True)
class Totals:
    """What the overview of a large project is too slow to count.

    answers, conflicts: by id of the study, as `answers_by_study` and `count_conflicts` return them. accepted: as
    `latest_accepted` returns it, for the first study of the dataset.
    """

    answers: Mapping[int, Answers]
    conflicts: Mapping[int, int]
    accepted: Sequence[int]

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Self:
        """Return the totals from their JSON."""
        answers = {int(study): Answers(**each) for study, each in stored["answers"].items()}
        return cls(answers, {int(study): n for study, n in stored["conflicts"].items()}, stored["accepted"])


def count_totals(project: Project) -> Totals:
    dataset = dataset_studies(project)
    accepted = latest_accepted(dataset[0], ACCEPTED_SHOWN) if dataset else []
    return Totals(answers_by_study(project), dict(count_conflicts(project)), accepted)


@dataclass(frozen=True)
class Waiting:
    """Images that an import announced and whose files are missing."""

    images: int
    instances: int


def waiting_images(project: Project) -> Waiting:
    return _waiting(InstanceImage.objects.filter(instance__project=project))


def waiting_for_launch(study: Study) -> Waiting:
    """Return the missing images that `study` would show."""
    shown = InstanceImage.objects.filter(instance__in=selected_instances(study), role__in=roles_asked(study))
    return _waiting(shown)


def _waiting(uses: QuerySet[InstanceImage]) -> Waiting:
    counts = uses.filter(image=None).aggregate(images=Count("pk"), instances=Count("instance_id", distinct=True))
    return Waiting(**counts)

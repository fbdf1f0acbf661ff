"""Numbers of the pages of all projects and of one project, counted by the database."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Self

from django.conf import settings
from django.db.models import (
    Case,
    Count,
    Exists,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce, Concat, TruncDate

from analytics.outcomes import WHOLE, Outcome
from analytics.work.pay import platform_fee, rewards
from annotation.actions.arriving.draw_questions import count_ready
from annotation.models import Decision, Removal, Response, Session, Slot
from annotation.models.outcomes import accepted_items, question_is
from results.queries.instances.instance_list import images_of, sort_images
from results.queries.people.payments_due import owed_by_study
from results.queries.studies.live_study_status import wait_reasons
from results.queries.studies.progress import Answers, answers_of
from studies.actions.projects.datasets import dataset_studies
from studies.actions.questions import images_asked, origin_of
from studies.models import UNDER_WAY, Event, Instance, InstanceImage, Project, Question, Study, StudyState

# Pictures of a project on the home page.
MOSAIC = 4
# Latest accepted instances on the overview.
ACCEPTED_SHOWN = 6
# Days of answers on the overview, today included.
DAYS_SHOWN = 14
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


@dataclass(frozen=True)
class CardNumbers:
    """The numbers of a large project on the home page, as they were counted at `as_of`.

    conflicts: id of a study -> its conflicting questions that nobody is asked about again. The others as on
    `project_counts`, `accepted_counts` and `asked_counts`.
    """

    as_of: datetime
    instances: int
    answers: int
    accepted: int | None
    asked: int | None
    conflicts: Mapping[int, int]


def project_counts(
    projects: QuerySet[Project], *, stored: Mapping[int, CardNumbers] = MappingProxyType({})
) -> QuerySet[Project]:
    """Annotate `projects` with counts (`instance_count`, `study_count`, `open_study_count`, `answer_count`), with
    `last_change`, the time of the latest event, and with `first_instance`, an id or None. Open studies that are
    complete do not count as open.

    stored: id of each project whose instances and answers are not to be counted -> its numbers.
    """
    first = Instance.objects.filter(project=OuterRef("pk")).order_by("pk")
    latest = Event.objects.filter(project=OuterRef("pk")).order_by("-pk")
    # Decisions store how many answers count, and there are fewer decisions than answers.
    answers = Decision.objects.filter(study__project=OuterRef("pk")).order_by().values("study__project")
    under_way = Study.objects.filter(project=OuterRef("pk"), state=StudyState.OPEN, completed_at=None)
    return projects.annotate(
        instance_count=_known_or(
            _count(Instance.objects.filter(project=OuterRef("pk")), "project"),
            {pk: numbers.instances for pk, numbers in stored.items()},
        ),
        study_count=_count(Study.objects.filter(project=OuterRef("pk")), "project"),
        open_study_count=_count(under_way, "project"),
        answer_count=_known_or(
            Coalesce(Subquery(answers.annotate(n=Sum("answers")).values("n")), 0),
            {pk: numbers.answers for pk, numbers in stored.items()},
        ),
        last_change=Subquery(latest.values("at")[:1]),
        first_instance=Subquery(first.values("pk")[:1]),
    )


def _known_or(count: Coalesce, known: Mapping[int, int]) -> Coalesce | Case:
    """Return `count` as an expression that counts nothing for the ids in `known`, whose numbers these are."""
    whens = [When(pk=pk, then=Value(n)) for pk, n in known.items()]
    return Case(*whens, default=count, output_field=IntegerField()) if known else count


def mosaics(projects: Sequence[Project]) -> dict[int, list[InstanceImage]]:
    """Return the id of each project -> pictures of its first instance, read with `project_counts`."""
    owners = {vars(project)["first_instance"]: project.pk for project in projects}
    found: dict[int, list[InstanceImage]] = {project.pk: [] for project in projects}
    uses = InstanceImage.objects.filter(instance__in=[pk for pk in owners if pk], image__isnull=False)
    for use in uses:
        found[owners[use.instance_id]].append(use)
    return {project: sort_images(images)[:MOSAIC] for project, images in found.items()}


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


def asked_counts(projects: Iterable[Project]) -> dict[int, int]:
    """Return the id of each project with a dataset -> how many items its studies ask about, each item once."""
    asked = Question.objects.filter(study__in_dataset=True, study__project__in=list(projects)).order_by()
    part = Concat(Cast("instance_id", TextField()), Value(" "), "item")
    counted = asked.values_list("study__project").annotate(
        whole=Count("instance", distinct=True, filter=Q(item=WHOLE)),
        parts=Count(part, distinct=True, filter=~Q(item=WHOLE)),
    )
    return {project: whole + parts for project, whole, parts in counted}


def unreplaced_projects(projects: Iterable[int]) -> set[int]:
    """Return the ids of those projects whose open studies have answers that do not count and are not replaced.

    Looks only at the people who were removed, and at none of the other answers.
    """
    held = Response.objects.filter(
        annotator=OuterRef("annotator"),
        study__project=OuterRef("project"),
        study__state=StudyState.OPEN,
        is_current=True,
        is_check=False,
        slot__isnull=False,
        question__undone_at=None,
        question__taken_out_at=None,
    ).exclude(left_out="")
    removals = Removal.objects.in_force().filter(Exists(held), project__in=list(projects)).order_by()
    return set(removals.values_list("project", flat=True))


def accepted_by_study(project: Project) -> dict[str, int]:
    """Return each launched study of `project` that accepts, in launch order -> how many items it has accepted."""
    launched = Study.objects.filter(project=project).exclude(state=StudyState.DRAFT).order_by("launched_at", "pk")
    return {study.slug: accepted_items(study).count() for study in launched.defer("source") if study.accepts}


def _count(rows: QuerySet[Any], group: str) -> Coalesce:
    return Coalesce(Subquery(rows.order_by().values(group).annotate(n=Count("pk")).values("n")), 0)


@dataclass(frozen=True)
class StudyLine:
    """A study with its progress.

    waits_for: what a live study without questions waits for, "" for others. ready: items that its upstream study
    accepted and it asks about as soon as somebody arrives.
    """

    study: Study
    answers: Answers
    waits_for: str = ""
    ready: int = 0


def answers_by_study(project: Project) -> dict[int, Answers]:
    """Return the id of each study with questions -> its progress."""
    slots = Slot.objects.wanted().filter(seat__study__project=project).order_by().values_list("seat__study_id")
    counted = Response.objects.counted().filter(study__project=project).order_by()
    given = dict(counted.values_list("study_id").annotate(n=Count("pk")))
    return answers_of(given, slots, Response.objects.filter(study__project=project).values_list("study_id"))


def ready_by_study(project: Project, *, now: datetime) -> dict[int, int]:
    """Return the id of each live study with an upstream study -> how many items wait there until somebody arrives."""
    live = Study.objects.filter(project=project, state__in=UNDER_WAY, fed_by__isnull=False).select_related("fed_by")
    found = {study.pk: count_ready(study, now=now) for study in live.defer("source", "fed_by__source")}
    return {study: n for study, n in found.items() if n}


def study_lines(
    project: Project,
    *,
    now: datetime,
    answers: Mapping[int, Answers] | None = None,
    ready: Mapping[int, int] | None = None,
) -> list[StudyLine]:
    """Return the studies of `project` with their progress, latest first.

    answers, ready: of `answers_by_study` and `ready_by_study`, if known.
    """
    answers = answers_by_study(project) if answers is None else answers
    ready = ready_by_study(project, now=now) if ready is None else ready
    studies = list(Study.objects.filter(project=project).defer("source", "design"))
    waiting = wait_reasons([study.pk for study in studies if study.pk not in answers], now=now)
    return [
        StudyLine(study, answers.get(study.pk, Answers(0, 0)), waiting.get(study.pk, ""), ready.get(study.pk, 0))
        for study in studies
    ]


def count_categories(project: Project) -> dict[tuple[str, str], int]:
    """Return the number of instances of each type and subtype."""
    counted = Instance.objects.filter(project=project).order_by().values_list("type", "subtype")
    return {(type, subtype): n for type, subtype, n in counted.annotate(n=Count("pk"))}


@dataclass(frozen=True)
class Figures:
    """Numbers of a project: answers that count and those wanted so far, and people who gave at least one.

    removed: how many of these people withdrew or were excluded.
    """

    answers: int
    wanted: int
    people: int
    removed: int


def figures_of(project: Project, lines: Sequence[StudyLine]) -> Figures:
    people = Session.objects.filter(study__project=project, questions_answered__gt=0)
    given, wanted = (sum(getattr(line.answers, name) for line in lines) for name in ("given", "wanted"))
    removals = Removal.objects.in_force().filter(project=project, annotator=OuterRef("annotator_id"))
    counted = people.aggregate(
        people=Count("annotator_id", distinct=True),
        removed=Count("annotator_id", distinct=True, filter=Exists(removals)),
    )
    return Figures(given, wanted, **counted)


@dataclass(frozen=True)
class Conflicts:
    """Questions with all answers wanted so far and no outcome, by id of the study.

    final: they get no further answer. asked_again: they get one more when somebody arrives.
    """

    final: Mapping[int, int] = field(default_factory=dict)
    asked_again: Mapping[int, int] = field(default_factory=dict)


def count_conflicts(*projects: Project) -> Conflicts:
    """Count the conflicting questions of `projects`."""
    conflicting = Decision.objects.filter(question_is(Outcome.CONFLICTING, accepts=True), study__project__in=projects)
    counted = conflicting.order_by().values_list("study", "asks_more", "answers").annotate(n=Count("pk"))
    most = {study.pk: study.most_answers for study in Study.objects.filter(pk__in={row[0] for row in counted})}
    final, asked_again = Counter[int](), Counter[int]()
    for study, asks_more, answers, number in counted:
        found = asked_again if asks_more and answers < most[study] else final
        found[study] += number
    return Conflicts(final, asked_again)


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


@dataclass(frozen=True)
class NamedImage:
    """An image, by its SHA-256, and its role."""

    image: str
    role: str


def accepted_pictures(instances: Sequence[int], studies: Sequence[Study]) -> list[tuple[Instance, list[NamedImage]]]:
    """Return the instances with these ids, in this order, each with its images.

    First those that people accepted, in the roles that they took: in one of `studies`, or in the studies before it.
    """
    found = Instance.objects.in_bulk(instances)
    images = images_of(found.values())
    accepted: dict[int, list[tuple[Question, str]]] = {}
    decided = Decision.objects.filter(question_is(Outcome.ACCEPTED, accepts=True), study__in=studies)
    for decision in decided.filter(question__instance__in=found).select_related("question").order_by("pk"):
        accepted.setdefault(decision.question.instance_id, []).append((decision.question, decision.winner))
    shown = []
    for pk in instances:
        if pk in found:
            won = origin_of(accepted[pk]).won if pk in accepted else {}
            first = [NamedImage(each["image"], role) for role, each in won.items() if "image" in each]
            known = {each.image for each in first}
            others = [NamedImage(use.image_id, use.role) for use in images[pk] if use.image_id]
            shown.append((found[pk], [*first, *(each for each in others if each.image not in known)]))
    return shown


@dataclass(frozen=True)
class StudySpending:
    """Money of a study in its currency, major units.

    owed: for what was done so far, as in the table of costs. to_come: for the places that are not filled yet, if the
    study is under way. fee: the platform's on both, if it recruits there; else 0. fee_owed: the part of it on `owed`.
    """

    study: str
    owed: Decimal
    to_come: Decimal
    fee: Decimal
    fee_owed: Decimal = Decimal(0)

    @property
    def owed_with_fee(self) -> Decimal:
        return self.owed + self.fee_owed

    @property
    def to_come_with_fee(self) -> Decimal:
        return self.to_come + self.fee - self.fee_owed

    @property
    def total(self) -> Decimal:
        return self.owed + self.to_come + self.fee


@dataclass(frozen=True)
class Spending:
    """Money of a project in one currency: the sums of its studies that pay in it."""

    currency: str
    studies: Sequence[StudySpending]

    @property
    def owed(self) -> Decimal:
        return sum((each.owed for each in self.studies), Decimal(0))

    @property
    def owed_with_fee(self) -> Decimal:
        return sum((each.owed_with_fee for each in self.studies), Decimal(0))

    @property
    def to_come(self) -> Decimal:
        return sum((each.to_come for each in self.studies), Decimal(0))

    @property
    def to_come_with_fee(self) -> Decimal:
        return sum((each.to_come_with_fee for each in self.studies), Decimal(0))

    @property
    def total(self) -> Decimal:
        return sum((each.total for each in self.studies), Decimal(0))


@dataclass(frozen=True)
class ToCome:
    """Answers that the studies of a project under way can still get, and their pay by currency, without fees."""

    answers: int
    cost: Mapping[str, Decimal]


def count_to_come(project: Project) -> ToCome:
    """Count what is still to come in `project`, as its overview does. Takes two queries."""
    live = list(Study.objects.filter(project=project, state__in=UNDER_WAY).defer("source"))
    open_places, cost = _open_places(live), dict[str, Decimal]()
    for study in live:
        pay, places = study.design.pay, open_places.get(study.pk, _OpenPlaces())
        if pay.per_session or pay.per_answer:
            due = rewards(pay.per_session, pay.per_answer, seats=places.seats, answers=places.paid)
            cost[pay.currency] = cost.get(pay.currency, Decimal(0)) + due
    return ToCome(sum(places.answers for places in open_places.values()), dict(sorted(cost.items())))


@dataclass(frozen=True)
class _OpenPlaces:
    """Places with answers to come, and how many these are. paid: with the answers to their checks."""

    seats: int = 0
    answers: int = 0
    paid: int = 0


def _open_places(live: Sequence[Study]) -> dict[int, _OpenPlaces]:
    """Return the id of each of the studies that has open places -> their numbers."""
    still = Slot.objects.paid_to_come().filter(seat__study__in=live).order_by().values_list("seat__study_id")
    answers = Count("pk", filter=Q(is_check=False))
    counted = still.annotate(s=Count("seat", distinct=True), n=answers, paid=Count("pk"))
    return {study: _OpenPlaces(seats, asked, paid) for study, seats, asked, paid in counted}


def project_spending(project: Project) -> list[Spending]:
    """Return the spending of `project` by currency; studies that pay nothing are left out."""
    launched = Study.objects.filter(project=project, launched_at__isnull=False).defer("source")
    studies = [study for study in launched if study.design.pay.per_session or study.design.pay.per_answer]
    owed = owed_by_study(studies)
    live = [study for study in studies if study.state in UNDER_WAY]
    open_places = _open_places(live)
    found: dict[str, list[StudySpending]] = {}
    for study in studies:
        pay, so_far = study.design.pay, owed[study.pk].cost(study.design.pay.per_answer)
        places = open_places.get(study.pk, _OpenPlaces())
        to_come = rewards(pay.per_session, pay.per_answer, seats=places.seats, answers=places.paid)
        percent = settings.PLATFORM_FEE_PERCENT if study.design.recruitment.prolific else Decimal(0)
        fee, fee_owed = platform_fee(so_far + to_come, percent), platform_fee(so_far, percent)
        found.setdefault(pay.currency, []).append(StudySpending(study.slug, so_far, to_come, fee, fee_owed))
    return [Spending(currency, found[currency]) for currency in sorted(found)]


def answers_by_day(project: Project, *, today: date) -> list[tuple[date, int]]:
    """Return each of the last `DAYS_SHOWN` days (UTC) up to `today`, and how many answers that count came on it."""
    first = today - timedelta(days=DAYS_SHOWN - 1)
    since = datetime.combine(first, time(), tzinfo=UTC)
    answers = Response.objects.counted().filter(study__project=project, received_at__gte=since).order_by()
    by_day = answers.annotate(day=TruncDate("received_at", tzinfo=UTC)).values_list("day").annotate(n=Count("pk"))
    given = dict(by_day)
    days = [first + timedelta(days=n) for n in range(DAYS_SHOWN)]
    return [(day, given.get(day, 0)) for day in days]


@dataclass(frozen=True)
class Totals:
    """What the overview of a large project is too slow to count.

    answers, conflicts, spending, days, ready: as `answers_by_study`, `count_conflicts`, `project_spending`,
    `answers_by_day` and `ready_by_study` return them. accepted: as `latest_accepted` returns it, for the first study of
    the dataset. dataset: items of the dataset, None without one. asked: items that its studies ask about, None also if
    they were not stored.
    """

    answers: Mapping[int, Answers]
    conflicts: Conflicts
    accepted: Sequence[int]
    dataset: int | None
    spending: Sequence[Spending]
    days: Sequence[tuple[date, int]]
    ready: Mapping[int, int]
    asked: int | None = None

    def dump(self) -> dict[str, Any]:
        """Return it as JSON, which `read` reads."""
        return {
            "answers": {study: vars(each) for study, each in self.answers.items()},
            "conflicts": {name: dict(of) for name, of in vars(self.conflicts).items()},
            "accepted": list(self.accepted),
            "dataset": self.dataset,
            "asked": self.asked,
            "spending": [
                [
                    each.currency,
                    [[of.study, *map(str, (of.owed, of.to_come, of.fee, of.fee_owed))] for of in each.studies],
                ]
                for each in self.spending
            ],
            "days": [[day.isoformat(), n] for day, n in self.days],
            "ready": dict(self.ready),
        }

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Self:
        """Return the totals from their JSON."""
        by_name = stored["conflicts"].items()
        conflicts = Conflicts(**{name: {int(study): n for study, n in of.items()} for name, of in by_name})
        answers, spending = read_answers(stored["answers"]), read_spending(stored["spending"])
        days = [(date.fromisoformat(day), n) for day, n in stored["days"]]
        # Older versions stored neither `ready` nor `asked`.
        ready = {int(study): n for study, n in stored.get("ready", {}).items()}
        asked = stored.get("asked")
        return cls(answers, conflicts, stored["accepted"], stored["dataset"], spending, days, ready, asked)


def read_answers(stored: Mapping[str, Any]) -> dict[int, Answers]:
    """Return the progress of studies as `Totals.dump` stored it."""
    return {int(study): Answers(**each) for study, each in stored.items()}


def read_spending(stored: Sequence[Any]) -> list[Spending]:
    """Return the spending of a project as `Totals.dump` stored it."""
    return [
        Spending(currency, [StudySpending(study, *map(Decimal, money)) for study, *money in studies])
        for currency, studies in stored
    ]


def count_totals(project: Project, *, now: datetime) -> Totals:
    dataset = dataset_studies(project)
    return Totals(
        answers_by_study(project),
        count_conflicts(project),
        latest_accepted(dataset[0], ACCEPTED_SHOWN) if dataset else [],
        accepted_counts([project]).get(project.pk),
        project_spending(project),
        answers_by_day(project, today=now.astimezone(UTC).date()),
        ready_by_study(project, now=now),
        asked_counts([project]).get(project.pk),
    )


@dataclass(frozen=True)
class WaitingImages:
    """Images that an import announced and whose files are missing."""

    images: int
    instances: int


def waiting_images(project: Project) -> WaitingImages:
    return _count_waiting(InstanceImage.objects.filter(instance__project=project))


def waiting_for_launch(study: Study) -> WaitingImages:
    """Return the missing images that `study` would show."""
    return _count_waiting(images_asked(study))


def _count_waiting(uses: QuerySet[InstanceImage]) -> WaitingImages:
    counts = uses.filter(image=None).aggregate(images=Count("pk"), instances=Count("instance_id", distinct=True))
    return WaitingImages(**counts)

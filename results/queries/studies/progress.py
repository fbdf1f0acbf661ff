"""Numbers of the monitor, aggregated by the database: a fixed number of queries at any size."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery, Sum, Window
from django.db.models.functions import Coalesce, RowNumber

from analytics.outcomes import ACCEPTING, NOT_ACCEPTING, Outcome
from analytics.work.pay import PaidSession
from annotation.models import Decision, EntryEvent, Response, Seat, Session, SessionState, Slot
from annotation.models.outcomes import count_items, is_at, question_is
from annotation.models.responses import took_ms
from annotation.models.seats import IS_TO_COME
from annotation.models.sessions import has_unlikely_times
from annotation.session_pay import PayItem, compute_pay
from results.models import Pseudonym
from results.queries.people.payments_due import paid_answers
from results.queries.reports.answer_scores import answer_scores, kinds_with_own_scores
from results.queries.reports.label_spaces import label_spaces
from results.reports.sections.funnel import INSTANCES, ITEMS
from studies.models import Study

RIGHT, SCORE = "Right", "Mean score"


@dataclass(frozen=True)
class Seats:
    """`taken`: in use now; `filled`: all questions answered."""

    free: int
    taken: int
    filled: int

    @property
    def all(self) -> int:
        return self.free + self.taken + self.filled


@dataclass(frozen=True)
class Answers:
    """Counted answers, and slots for answers.

    to_come: answers that open places can still give. without_place: answers that are wanted and have no place, because
    somebody whose answers no longer count has had it.
    """

    given: int
    wanted: int
    to_come: int = 0
    without_place: int = 0

    @property
    def percent(self) -> int:
        """Whole percent, halves up; 100 only if all answers are there, and 0 only if none is."""
        if not self.wanted or not self.given:
            return 0
        if self.given >= self.wanted:
            return 100
        return min(99, max(1, (200 * self.given + self.wanted) // (2 * self.wanted)))


@dataclass(frozen=True)
class SurveyProgress:
    number: int
    seats: Seats
    answers: Answers


@dataclass(frozen=True)
class Questions:
    """Questions by progress and outcome, and the number adjudicated.

    Names as in `analytics.outcomes`; those impossible in this type of study are left out.
    """

    asked: int
    progress: Mapping[str, int]
    outcomes: Mapping[str, int]
    settled: int


@dataclass(frozen=True)
class Items:
    """Items by outcome, without empty ones. `unit`: what they are, in the plural."""

    outcomes: Mapping[str, int]
    unit: str

    @property
    def accepted(self) -> int:
        return self.outcomes.get(Outcome.ACCEPTED.value, 0)

    @property
    def others(self) -> Mapping[str, int]:
        return {word: n for word, n in self.outcomes.items() if word != Outcome.ACCEPTED.value}


@dataclass(frozen=True)
class Rate:
    """How many of `n` counted answers that could be `what` (in words) are; for scores from 0 to 1 their sum."""

    what: str
    times: float
    n: int

    @property
    def percent(self) -> float | None:
        return self.times * 100 / self.n if self.n else None

    @property
    def is_about_right(self) -> bool:
        """Whether the results have it too, as a score by group or question."""
        return self.what in (RIGHT, SCORE)

    @property
    def is_mean(self) -> bool:
        """Whether it is the mean of scores instead of a count."""
        return self.what == SCORE


@dataclass(frozen=True)
class Seconds:
    """Quartiles of the time per question in seconds, with the tab in view; None without measured times."""

    n: int
    lower: float | None = None
    median: float | None = None
    upper: float | None = None


@dataclass(frozen=True)
class StudyProgress:
    answers: Answers
    seats: Seats
    surveys: Sequence[SurveyProgress]
    questions: Questions
    items: Items
    rates: Sequence[Rate]
    seconds: Seconds


def progress_of(kept: Mapping[str, Any]) -> StudyProgress:
    """Return progress from its stored plain values."""
    return StudyProgress(
        answers=Answers(**kept["answers"]),
        seats=Seats(**kept["seats"]),
        surveys=[
            SurveyProgress(each["number"], Seats(**each["seats"]), Answers(**each["answers"]))
            for each in kept["surveys"]
        ],
        questions=Questions(**kept["questions"]),
        items=Items(**kept["items"]),
        rates=[Rate(**each) for each in kept["rates"]],
        seconds=Seconds(**kept["seconds"]),
    )


def study_progress(study: Study) -> StudyProgress:
    surveys, questions = _surveys(study), _questions(study)
    answers, seats = [row.answers for row in surveys], [row.seats for row in surveys]
    counts = (sum(getattr(each, name) for each in answers) for name in ("given", "wanted", "to_come", "without_place"))
    return StudyProgress(
        answers=Answers(*counts),
        seats=Seats(*(sum(getattr(each, name) for each in seats) for name in ("free", "taken", "filled"))),
        surveys=surveys,
        questions=questions,
        items=_items(study, questions),
        rates=_rates(study),
        seconds=_seconds(study),
    )


def _surveys(study: Study) -> list[SurveyProgress]:
    by_survey = Seat.objects.filter(study=study).values_list("survey_id", "survey__number")
    seats = by_survey.annotate(**_seat_counts()).order_by("survey__number")
    slots = Slot.objects.wanted().filter(seat__study=study).order_by().values_list("seat__survey_id")
    given = dict(Response.objects.counted_in(study).values_list("slot__seat__survey_id").annotate(n=Count("pk")))
    answers = answers_of(given, slots, Response.objects.filter(study=study).values_list("slot__seat__survey_id"))
    return [
        SurveyProgress(number, Seats(free, taken, filled), answers.get(survey, Answers(0, 0)))
        for survey, number, free, taken, filled in seats
    ]


def count_seats(study: Study) -> Seats:
    """Return the places of `study`, counted now."""
    return Seats(**Seat.objects.filter(study=study).aggregate(**_seat_counts()))


def _seat_counts() -> dict[str, Count]:
    open_here = Slot.objects.to_come().filter(seat=OuterRef("pk"))
    return {
        "free": Count("pk", filter=Q(Exists(open_here), session=None, filled_at=None)),
        "taken": Count("pk", filter=Q(session__isnull=False, filled_at=None)),
        "filled": Count("pk", filter=Q(filled_at__isnull=False)),
    }


def answers_of(given: Mapping[int, int], slots: QuerySet[Any], responses: QuerySet[Any]) -> dict[int, Answers]:
    """Return the progress of each study or survey with questions.

    given: its counted answers. slots: its wanted slots, by its id. responses: all answers, by its id.
    """
    counts = list(slots.annotate(wanted=Count("pk"), to_come=Count("pk", filter=IS_TO_COME)))
    uncounted: dict[int, int] = {}
    # Reading all answers takes long, and is seldom needed.
    if any(wanted > given.get(pk, 0) + to_come for pk, wanted, to_come in counts):
        held = responses.filter(is_current=True, is_check=False, slot__isnull=False, question__undone_at=None).exclude(
            left_out=""
        )
        uncounted = dict(held.order_by().annotate(n=Count("pk")))
    return {pk: Answers(given.get(pk, 0), wanted, to_come, uncounted.get(pk, 0)) for pk, wanted, to_come in counts}


def _questions(study: Study) -> Questions:
    decisions = Decision.objects.filter(study=study)
    outcomes = [outcome for outcome in Outcome if outcome not in (NOT_ACCEPTING if study.accepts else ACCEPTING)]
    counted = decisions.aggregate(
        asked=Count("pk"),
        settled=Count("pk", filter=~Q(settled_choice="")),
        **{progress.name: Count("pk", filter=condition) for progress, condition in is_at.items()},
        **{outcome.name: Count("pk", filter=question_is(outcome, accepts=study.accepts)) for outcome in outcomes},
    )
    return Questions(
        asked=counted["asked"],
        progress={progress.value: counted[progress.name] for progress in is_at},
        outcomes={
            outcome.value: counted[outcome.name]
            for outcome in outcomes
            if outcome is not Outcome.UNDONE or counted[outcome.name]
        },
        settled=counted["settled"],
    )


def _items(study: Study, questions: Questions) -> Items:
    unit = ITEMS if study.design.asks_about_parts else INSTANCES
    if study.design.asks_several:
        return Items({outcome.value: n for outcome, n in count_items(study).items()}, unit)
    # There is one question for each.
    return Items({word: n for word, n in questions.outcomes.items() if n}, unit)


def _rates(study: Study) -> list[Rate]:
    """Return how often each option that is always offered, and the right one if known, was chosen.

    For kinds that score answers themselves, the mean score.
    """
    # By displayed name: the questions that could be answered so, and the answers that are.
    asked: dict[str, tuple[Q, Q]] = {}
    for kind, label_space in label_spaces(study).items():
        for option in label_space.always:
            # Two kinds may use the same name for different options.
            could, is_it = asked.get(label_space.name(option), (Q(), Q()))
            mine = Q(question__kind=kind)
            asked[label_space.name(option)] = (could | mine, is_it | mine & Q(choice=option))
    known = ~Q(question__right="") & ~Q(question__kind__in=kinds_with_own_scores(study))
    asked[RIGHT] = (known, Q(choice=F("question__right")))
    columns: dict[str, Count] = {}
    for number, (could, is_it) in enumerate(asked.values()):
        columns[f"n_{number}"], columns[f"times_{number}"] = (
            Count("pk", filter=could),
            Count("pk", filter=could & is_it),
        )
    counts = Response.objects.counted_in(study).aggregate(**columns)
    rates = [Rate(what, counts[f"times_{number}"], counts[f"n_{number}"]) for number, what in enumerate(asked)]
    scores = [scored.score for scored in answer_scores(study)]
    rates.append(Rate(SCORE, sum(scores), len(scores)))
    return [rate for rate in rates if rate.what not in (RIGHT, SCORE) or rate.n]


def _seconds(study: Study) -> Seconds:
    """Return quartiles by linear interpolation (type 7, as `analytics.work.pay.percentile`); one sort in SQL."""
    timed = Response.objects.counted_in(study).annotate(ms=took_ms()).filter(ms__isnull=False)
    n = timed.count()
    if not n:
        return Seconds(0)
    ranks = [share * (n - 1) / 4 for share in (1, 2, 3)]
    wanted = {int(rank) + step for rank in ranks for step in (1, 2)}
    numbered = timed.annotate(rank=Window(RowNumber(), order_by=("ms", "pk")))
    at = dict(numbered.filter(rank__in=wanted).values_list("rank", "ms"))
    lower, median, upper = (_interpolate(at, rank) / 1000 for rank in ranks)
    return Seconds(n, lower, median, upper)


def _interpolate(at: dict[int, int], rank: float) -> float:
    first = at[int(rank) + 1]
    return first + (at.get(int(rank) + 2, first) - first) * (rank - int(rank))


def pseudonym_in(study: Study) -> Subquery:
    """Return the pseudonym of the annotator of a session."""
    names = Pseudonym.objects.filter(project=study.project_id, annotator=OuterRef("annotator_id"))
    return Subquery(names.values("name")[:1])


def paid_sessions(study: Study) -> list[PaidSession]:
    """Return for each finished session its duration on our clock, from arrival to return, and its number of answers."""
    finished = Session.objects.filter(study=study, state=SessionState.FINISHED).order_by("pk")
    # Sessions that nobody worked for say nothing about the wage of those who did.
    finished = finished.exclude(has_unlikely_times())
    times = finished.values_list("pk", "arrived_at", Coalesce("handed_back_at", "ended_at"), pseudonym_in(study))
    given = paid_answers(study)
    # A clock set back in between must not break the page.
    found = []
    for pk, arrived, ended, who in times:
        answers, seconds = given.get(pk, 0), (ended - arrived).total_seconds()
        if seconds > 0:
            owed = compute_pay(SessionState.FINISHED, answers, study.design)
            found.append(PaidSession(seconds, answers, owed.amount(PayItem.SESSION), who or ""))
    return found


@dataclass(frozen=True)
class SuspiciousArrivals:
    """How often a suspicious event happened on arrival, to how many known people (0: none known), and when last."""

    times: int
    people: int
    last: datetime


def suspicious_arrivals(study: Study) -> dict[tuple[str, str], SuspiciousArrivals]:
    """Return the suspicious arrivals of `study`, by type and by the eligibility rule behind it ("" without)."""
    events = EntryEvent.objects.filter(study=study).order_by().values_list("what", "rule")
    counted = events.annotate(sum=Sum("times"), people=Count("pk", filter=~Q(who="")), last=Max("at"))
    return {(what, rule): SuspiciousArrivals(times, people, last) for what, rule, times, people, last in counted}

"""Draw questions when somebody arrives: instances just accepted upstream, and undecided questions.

This is what makes a pipeline live.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice

from django.db.models import Exists, F, OuterRef, QuerySet

from annotation.actions import seats
from annotation.actions.arriving.eligibility import find_bars, is_barred
from annotation.models import Annotator, Decision, Response, Skip, Slot
from annotation.models.outcomes import accepted_decisions, accepted_items
from annotation.models.responses import RESPONSE
from studies.actions.questions import About, Source, origin_of, selected_instances
from studies.actions.studies import add_surveys, fill_survey
from studies.eligibility import BarredQuestions
from studies.kinds import AsksAboutAnswers, get_kind
from studies.models import Instance, Question, Study, Survey
from studies.survey_plan import PlannedSurvey, order_parts

CHUNK = 200
# With one-action answering, answers can be undone for this long; nothing uses them before.
UNDO = timedelta(seconds=5)


def ready_items(
    study: Study,
    *,
    now: datetime,
    annotator: Annotator | None = None,
    limit: int | None = None,
    about: QuerySet[Instance] | None = None,
) -> list[About]:
    """Return what the upstream study has ready for `study` that it does not ask about yet, oldest first.

    annotator: who it is for, None for somebody new; items barred by the rules of `study`, such as their own answers,
    are left out. about: only items of these instances; None for all that `study` selects.
    """
    if study.fed_by is None:
        return []
    bars = find_bars(study=study, annotator=annotator)
    selected = selected_instances(study).order_by()
    among = selected if about is None else selected & about
    if study.design.asks_about_answers:
        return list(islice(_answers_for(study, study.fed_by, bars, among, limit, now=now), limit))
    return _draw_accepted(study, study.fed_by, bars, among, limit, now=now)


def count_ready(study: Study, *, now: datetime) -> int:
    """Return how many items `draw` would find for somebody new: of `ready_items`, without reading what was accepted."""
    if study.fed_by is None or study.design.instances.sample is not None:
        return 0
    if study.design.asks_about_answers:
        return len(ready_items(study, now=now))
    bars, among = find_bars(study=study, annotator=None), selected_instances(study).order_by()
    return _ready_decisions(study, study.fed_by, bars, among, now=now).count()


def accepted_about(study: Study, *, now: datetime, among: QuerySet[Instance] | None = None) -> list[About]:
    """Return the instances that `study` accepted, each with what acceptance added, oldest first.

    among: only these; None for all.
    """
    accepted = _accepted_decisions(study, now=now)
    return _about_accepted(study, accepted if among is None else accepted.filter(question__instance__in=among))


def _accepted_decisions(study: Study, *, now: datetime) -> QuerySet[Decision]:
    """Return the decisions of the accepted items of `study` that nobody can undo any more."""
    accepted = accepted_items(study)
    return accepted if study.design.answering.one_action == "off" else accepted.filter(decided_at__lte=now - UNDO)


def _ready_decisions(
    study: Study, feeding: Study, bars: BarredQuestions, among: QuerySet[Instance], *, now: datetime
) -> QuerySet[Decision]:
    drawn = Question.objects.filter(study=study, instance=OuterRef("question__instance"))
    accepted = _accepted_decisions(feeding, now=now).exclude(Exists(drawn))
    accepted = accepted.filter(question__instance__in=among)
    if bars.instances:
        accepted = accepted.exclude(question__instance__in=bars.instances)
    return accepted


def _draw_accepted(
    study: Study, feeding: Study, bars: BarredQuestions, among: QuerySet[Instance], limit: int | None, *, now: datetime
) -> list[About]:
    return _about_accepted(feeding, _ready_decisions(study, feeding, bars, among, now=now), limit)


def _about_accepted(feeding: Study, accepted: QuerySet[Decision], limit: int | None = None) -> list[About]:
    found = accepted.select_related("question").order_by("decided_at", "question_id")[:limit]
    if feeding.design.asks_several:
        # Every question about an instance may have added something to it.
        whole = accepted_decisions(feeding).filter(question__instance__in={each.question.instance_id for each in found})
        found = whole.select_related("question").order_by("decided_at", "question_id")
    by_instance: dict[int, list[tuple[Question, str]]] = {}
    for decision in found:
        by_instance.setdefault(decision.question.instance_id, []).append((decision.question, decision.winner))
    return [About(instance, origin_of(questions)) for instance, questions in by_instance.items()]


def _answers_for(
    study: Study, feeding: Study, bars: BarredQuestions, among: QuerySet[Instance], limit: int | None, *, now: datetime
) -> Iterator[About]:
    """Yield the counted answers of `feeding` that can be asked about, in order of arrival.

    limit: how many the caller takes, None for all.
    """
    drawn = Question.objects.filter(study=study, source_type=RESPONSE, source_id=OuterRef("pk"))
    answers = Response.objects.counted_in(feeding).exclude(Exists(drawn))
    answers = answers.filter(question__instance__in=among)
    if feeding.design.answering.one_action != "off":
        answers = answers.filter(received_at__lte=now - UNDO)
    if bars:
        answers = answers.exclude(pk__in=bars.answers).exclude(question__instance__in=bars.instances)
    kinds = [get_kind(part.kind) for part in study.design.parts]
    asking = [kind for kind in kinds if isinstance(kind, AsksAboutAnswers)]
    answers = answers.select_related("question").order_by("pk")
    # A pool makes `iterator()` read everything, and whoever arrives needs only a few.
    for response in answers.iterator(chunk_size=CHUNK) if limit is None else _in_pages(answers):
        handed_on = get_kind(response.question.kind).as_source(response.question.content, response.whole_answer)
        # An upstream study may collect answers that not all of its downstream kinds can ask about.
        if handed_on is not None and all(kind.accepts_source(handed_on) for kind in asking):
            yield About(response.question.instance_id, source=Source(RESPONSE, response.pk, handed_on))


def _in_pages(answers: QuerySet[Response]) -> Iterator[Response]:
    """Yield `answers`, which are in the order of their keys, and read them in pages."""
    last = 0
    while True:
        page = list(answers.filter(pk__gt=last)[:CHUNK])
        yield from page
        if len(page) < CHUNK:
            return
        last = page[-1].pk


def draw(*, study: Study, annotator: Annotator | None, now: datetime, room: int | None = None) -> None:
    """Open one more survey of `study` if `annotator` can be asked something.

    room: maximum number of questions. Runs in a transaction.
    """
    # One draw at a time, so that nothing is drawn twice.
    locked = Study.objects.select_for_update(of=("self",), no_key=True).select_related("fed_by").get(pk=study.pk)
    size = study.design.surveys.size if room is None else min(room, study.design.surveys.size)
    if not _open_survey_of_undecided(locked, annotator, size):
        _open_survey_of_ready(locked, annotator, size, now=now)


def could_draw(
    *, study: Study, annotator: Annotator | None, now: datetime, about: QuerySet[Instance] | None = None
) -> bool:
    """Whether `draw` would find something for `annotator` (None: somebody new), without drawing it.

    about: only about these instances; None for any.
    """
    undecided = _undecided_decisions(study, annotator)
    if about is not None:
        undecided = undecided.filter(question__instance__in=about)
    if undecided.exists():
        return True
    is_sample = study.design.instances.sample is not None
    return not is_sample and bool(ready_items(study, now=now, annotator=annotator, limit=1, about=about))


def _open_survey_of_ready(study: Study, annotator: Annotator | None, size: int, *, now: datetime) -> None:
    if study.design.instances.sample is not None:
        return
    most = max(1, size // study.design.questions_per_instance)
    drawn = ready_items(study, now=now, annotator=annotator, limit=most)
    if drawn:
        planned = PlannedSurvey(tuple(drawn), study.answers)
        seats.open_seats(study=study, surveys=add_surveys(study=study, planned=[planned]))


def _undecided_decisions(study: Study, annotator: Annotator | None) -> QuerySet[Decision]:
    """Return decisions left undecided by all answers wanted so far, to which `annotator` may add one answer."""
    most = study.most_answers
    if most <= study.answers:
        return Decision.objects.none()
    open_slots = Slot.objects.filter(question=OuterRef("question"), answered_at=None)
    undecided = Decision.objects.filter(study=study, state=Decision.State.UNDECIDED, answers__gt=0, answers__lt=most)
    undecided = undecided.filter(asks_more=True)
    # If fewer answers count than were wanted, some were removed: their slots are reopened on request.
    undecided = undecided.filter(answers__gte=F("question__answers_wanted"), question__undone_at=None)
    undecided = undecided.filter(~Exists(open_slots)).exclude(question__in=seats.questions_missing_images(study))
    if annotator is None:
        return undecided
    if bars := find_bars(study=study, annotator=annotator):
        undecided = undecided.exclude(is_barred(bars, "question__"))
    skipped = Skip.objects.filter(annotator=annotator, question=OuterRef("question"))
    answered = Response.objects.filter(annotator=annotator, question=OuterRef("question"), is_current=True)
    return undecided.filter(~Exists(skipped), ~Exists(answered))


def _open_survey_of_undecided(study: Study, annotator: Annotator | None, size: int) -> bool:
    """Open a survey of undecided questions: one more answer each, up to the maximum."""
    undecided = _undecided_decisions(study, annotator).select_related("question").order_by("question")
    questions = [decision.question for decision in undecided[:size]]
    if not questions:
        return False
    survey = Survey.objects.create(study=study, number=study.surveys.count() + 1, seats_planned=1)
    Question.objects.filter(pk__in=[question.pk for question in questions]).update(
        answers_wanted=F("answers_wanted") + 1
    )
    fill_survey(survey=survey, questions=order_parts(questions, seed=f"{study.seed}|{survey.number}"))
    seats.open_seats(study=study, surveys=[survey])
    return True

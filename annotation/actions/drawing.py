"""Draw what is still needed when somebody arrives: instances that another study has just accepted, and questions that
are undecided after all the answers wanted so far. This is what makes a pipeline live."""

from collections.abc import Mapping

from django.db.models import Exists, F, OuterRef, QuerySet

from annotation.actions import seats
from annotation.models import Annotator, Decision, Response, Skip, Slot
from annotation.models.outcomes import accepted_decisions
from studies.actions.asking import Origin, origin_of, questions_per_instance, selected_instances
from studies.actions.studies import add_surveys, place_questions
from studies.models import Question, Study, Survey
from studies.planning import PlannedSurvey, in_parts


def accepted_origins(study: Study, *, not_yet_in: Study | None = None, limit: int | None = None) -> dict[int, Origin]:
    """Return what `study` has accepted, in order of acceptance: instance id -> where it comes from.

    `not_yet_in` leaves out the instances that study already asks about.
    """
    accepted = accepted_decisions(study)
    if not_yet_in is not None:
        drawn = Question.objects.filter(study=not_yet_in, instance=OuterRef("question__instance"))
        accepted = accepted.exclude(Exists(drawn)).filter(
            question__instance__in=selected_instances(not_yet_in).order_by()
        )
    accepted = accepted.select_related("question").order_by("decided_at", "question_id")
    return {
        decision.question.instance_id: origin_of(decision.question, decision.winner) for decision in accepted[:limit]
    }


def draw(*, study: Study, annotator: Annotator | None) -> bool:
    """Open one more survey of `study` if something is still needed that `annotator` can be asked; tell whether it did.

    Runs in a transaction.
    """
    # One draw at a time, so that nothing is drawn twice.
    locked = Study.objects.select_for_update(of=("self",), no_key=True).select_related("fed_by").get(pk=study.pk)
    return _ask_again(locked, annotator) or _ask_about_accepted(locked)


def could_draw(*, study: Study, annotator: Annotator | None) -> bool:
    """Tell whether `draw` would find something for `annotator`, None for somebody new, without drawing it."""
    return _undecided(study, annotator).exists() or bool(_accepted(study, limit=1))


def _accepted(study: Study, *, limit: int) -> Mapping[int, Origin]:
    if study.fed_by is None or study.design.instances.sample is not None:
        return {}
    return accepted_origins(study.fed_by, not_yet_in=study, limit=limit)


def _ask_about_accepted(study: Study) -> bool:
    drawn = _accepted(study, limit=max(1, study.design.surveys.size // questions_per_instance(study)))
    if not drawn:
        return False
    planned = PlannedSurvey(tuple(drawn), study.design.answers)
    seats.open_seats(study=study, surveys=add_surveys(study=study, planned=[planned], drawn=drawn))
    return True


def _undecided(study: Study, annotator: Annotator | None) -> QuerySet[Decision]:
    """Return the decisions that all the answers wanted so far left open, where `annotator` may give one more."""
    most = study.design.max_answers
    if most <= study.design.answers:
        return Decision.objects.none()
    open_slots = Slot.objects.filter(question=OuterRef("question"), answered_at=None)
    undecided = Decision.objects.filter(study=study, state=Decision.State.UNDECIDED, answers__gt=0, answers__lt=most)
    undecided = undecided.filter(asks_more=True)
    # Where fewer count than were asked for, somebody's were taken out: their slots are opened again on request.
    undecided = undecided.filter(answers__gte=F("question__answers_wanted"), question__undone_at=None)
    undecided = undecided.filter(~Exists(open_slots)).exclude(question__in=seats.awaiting_images(study))
    if annotator is None:
        return undecided
    skipped = Skip.objects.filter(annotator=annotator, question=OuterRef("question"))
    answered = Response.objects.filter(annotator=annotator, question=OuterRef("question"), is_current=True)
    return undecided.filter(~Exists(skipped), ~Exists(answered))


def _ask_again(study: Study, annotator: Annotator | None) -> bool:
    """Open a survey of questions that all their answers left undecided, one more answer each, up to the maximum."""
    undecided = _undecided(study, annotator).select_related("question").order_by("question")
    questions = [decision.question for decision in undecided[: study.design.surveys.size]]
    if not questions:
        return False
    survey = Survey.objects.create(study=study, number=study.surveys.count() + 1, seats_planned=1)
    Question.objects.filter(pk__in=[question.pk for question in questions]).update(
        answers_wanted=F("answers_wanted") + 1
    )
    place_questions(survey=survey, questions=in_parts(questions, seed=f"{study.seed}|{survey.number}"))
    seats.open_seats(study=study, surveys=[survey])
    return True

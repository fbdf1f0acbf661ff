"""Launch a study: freeze its design and open its seats, all or nothing.

It is in this package because seats belong to the answers (docs/decisions/0003).
"""

from datetime import datetime

from django.db import transaction

from annotation.actions import seats
from annotation.actions.arriving.draw_questions import ready_items
from annotation.models import Decision, Seat, Slot
from studies.actions import studies
from studies.actions.events import Actor, What, record
from studies.actions.questions import About
from studies.actions.selection import check_selection
from studies.actions.studies import Plan
from studies.actions.table_statistics import refresh_statistics
from studies.batches import Progress, ignore_progress
from studies.errors import StudyError
from studies.models import Question, Study, SurveyQuestion
from studies.rules import RULES, get_rule


@transaction.atomic
def launch(*, study: Study, by: Actor, now: datetime, progress: Progress = ignore_progress) -> None:
    """Freeze the design and open every seat. Raises StudyError with all problems.

    `progress`: called with the stage, and how many of its rows are made.
    """
    # Lock before reading what was accepted: a removal, which locks the studies too, cannot change it in between.
    if Study.objects.select_for_update(of=("self",), no_key=True).filter(pk=study.pk).first() is None:
        raise StudyError("Somebody else has just deleted this draft.")
    # Or has just edited it.
    study.refresh_from_db()
    studies.freeze(study=study, by=by, now=now, about=upstream_items(study, now=now), progress=progress)
    seats.open_seats(study=study, surveys=list(study.surveys.all()), progress=progress)
    refresh_statistics(Question, SurveyQuestion, Seat, Slot, Decision)
    asked = study.questions.count()
    record(project=study.project, study=study, what=What.STUDY_LAUNCHED, by=by, now=now, questions=asked)


def plan(study: Study, *, now: datetime) -> Plan:
    """Return what a launch would create, without creating it. Raises StudyError."""
    about = upstream_items(study, now=now)
    if about is not None and not about:
        check_selection(study)
        return Plan(questions=0, surveys=0, seats=0, answers=0)
    return studies.plan_study(study, about=about)


def foresee(study: Study) -> Plan:
    """Return what a launch of a study that is being written would create. It need not be saved. Raises StudyError."""
    if study.fed_by is None:
        return studies.count_plan(study)
    sample = study.design.instances.sample
    if sample is None:
        return Plan(questions=0, surveys=0, seats=0, answers=0)
    return studies.count_plan(study, about=list(map(About, range(sample))))


def launch_warnings(study: Study) -> list[str]:
    """Return warnings about unusual effects of launching `study`, in sentences; none prevents the launch."""
    asked_about = [study] if any(feed.design.asks_about_answers for feed in study.feeds.all()) else []
    if study.fed_by is not None and study.design.asks_about_answers:
        asked_about.append(study.fed_by)
    seeing = ", ".join(name for name in RULES if get_rule(name).needs.downstream_outcome)
    return [
        f"Another study asks about the answers of study {each.slug}, but its rule {each.rule} "
        "does not use the outcome: a rejected answer is not replaced by a new one. Rules that "
        f"use the outcome: {seeing}."
        for each in asked_about
        if not get_rule(each.rule).needs.downstream_outcome
    ]


def upstream_items(study: Study, *, now: datetime) -> list[About] | None:
    """Return what comes from the upstream study; None without one.

    A sample is drawn now; everything else is drawn when people arrive. It is the setting ARRIVING, so that drafts can
    be previewed. Raises StudyError if no sample can be drawn yet.
    """
    if study.fed_by is None:
        return None
    if study.design.instances.sample is None:
        return []
    if not (drawn := ready_items(study, now=now)):
        is_about_answers = study.design.asks_about_answers
        what = "no usable answer yet" if is_about_answers else "accepted no instance yet"
        raise StudyError(f"Study {study.fed_by.slug} has {what}, so no sample can be drawn.")
    return drawn

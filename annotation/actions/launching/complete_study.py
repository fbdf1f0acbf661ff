"""Detect studies with all answers, record it once, and close or mail as the researcher chose."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F

from analytics.outcomes import Outcome
from annotation.actions.arriving import draw_questions
from annotation.actions.launching.extend_study import EXTENSION_JOB
from annotation.actions.launching.reopen_studies import reopen_with_open_slots
from annotation.models import Decision, Response, Slot
from annotation.models.outcomes import instances_with
from background.models import UNFINISHED, Job
from studies.actions.events import Actor, What, record
from studies.actions.questions import selected_instances
from studies.actions.studies import change_state
from studies.errors import StudyError
from studies.kinds import get_kind
from studies.models import UNDER_WAY, Study, StudyState


@dataclass(frozen=True)
class CompletedStudy:
    """A study found complete; `is_closed`: it was closed for this reason."""

    study: Study
    is_closed: bool


@transaction.atomic
def set_completion(*, study: Study, closes: bool, mails: bool, by: Actor, now: datetime) -> None:
    """Set what happens when all answers of `study` are in: close it, mail the person who launched it.

    Raises StudyError for a closed study.
    """
    if study.state == StudyState.CLOSED:
        raise StudyError(f"Study {study.slug} is closed, so this cannot be changed any more.")
    Study.objects.filter(pk=study.pk).update(closes_itself=closes, mails_when_complete=mails)
    study.refresh_from_db(fields=["closes_itself", "mails_when_complete"])
    told = {"closes": closes, "mails": mails}
    record(project=study.project, study=study, what=What.COMPLETION_SET, by=by, now=now, **told)


def note_completed(*, by: Actor, now: datetime) -> list[CompletedStudy]:
    """Record which studies are complete now, close those that close themselves, and return them.

    A study is reported once, until more answers are asked for.
    """
    reopen_with_open_slots()
    found = []
    under_way = Study.objects.filter(state__in=UNDER_WAY, completed_at=None).order_by("pk")
    for study in list(under_way.select_related("project", "fed_by")):
        if is_complete(study=study, now=now) and (completed := _note(study, by=by, now=now)):
            found.append(completed)
    return found


@transaction.atomic
def _note(study: Study, *, by: Actor, now: datetime) -> CompletedStudy | None:
    # Locked, so that nobody draws or asks for more answers between the check and the close.
    locked = Study.objects.select_for_update(of=("self",), no_key=True).select_related("project", "fed_by")
    study = locked.get(pk=study.pk)
    is_still = study.completed_at is None and study.state in UNDER_WAY and is_complete(study=study, now=now)
    if not is_still:
        return None
    Study.objects.filter(pk=study.pk).update(completed_at=now)
    record(project=study.project, study=study, what=What.STUDY_COMPLETED, by=by, now=now)
    if study.closes_itself:
        change_state(study=study, to=StudyState.CLOSED, by=by, now=now)
    return CompletedStudy(study, study.closes_itself)


def is_complete(*, study: Study, now: datetime) -> bool:
    """Whether all answers of `study` are in and count, and no more will be asked for.

    No extension may wait or run, and no undecided question may get another answer. An upstream study must be complete
    too, with conflicts settled and its results asked about here.
    """
    if not Response.objects.counted_in(study).exists():
        return False
    if Job.objects.filter(kind=EXTENSION_JOB, key=str(study.pk), state__in=UNFINISHED).exists():
        return False
    # Answers of people who were removed: their slots are filled, but they do not count.
    short = Decision.objects.filter(study=study, question__undone_at=None, settled_choice="")
    if short.filter(answers__lt=F("question__answers_wanted")).exists():
        return False
    still_open = Slot.objects.ordinary().filter(seat__study=study, answered_at=None, question__undone_at=None)
    # An answer that can still be undone does not count as in yet.
    if still_open.exists() or draw_questions.could_draw(study=study, annotator=None, now=now + draw_questions.UNDO):
        return False
    if study.fed_by is None or study.design.instances.sample is not None:
        return True
    if _has_conflicts_to_settle(study, study.fed_by):
        return False
    return study.fed_by.state == StudyState.CLOSED or is_complete(study=study.fed_by, now=now)


def _has_conflicts_to_settle(study: Study, feeding: Study) -> bool:
    """Whether a researcher can still accept what `study` would ask about: answers to `feeding` conflict."""
    if study.design.asks_about_answers or not any(get_kind(part.kind).has_one_label for part in feeding.design.parts):
        return False
    return (instances_with(Outcome.CONFLICTING, feeding) & selected_instances(study)).exists()

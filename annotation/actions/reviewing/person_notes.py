"""Notes of researchers on an annotator, for other researchers of the project."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from annotation.errors import AnnotationError
from annotation.models import Annotator, PersonNote, Session
from studies.actions.events import What, record
from studies.models import Project
from studies.names import LONGEST_NOTE, problem_with_text

# The same note within this time is a form that was sent twice.
SENT_TWICE = timedelta(minutes=5)


class CannotNote(AnnotationError):
    """The note cannot be stored or deleted; the message tells the researcher why."""


@transaction.atomic
def add_note(
    *, annotator: Annotator, project: Project, session: Session | None, text: str, by: User, now: datetime
) -> PersonNote:
    """Store a note on `annotator`, and on one of their sessions where given. Raises CannotNote.

    The same note within `SENT_TWICE` is stored once.
    """
    if not text.strip():
        raise CannotNote("The note is empty. Write a text.")
    if problem := problem_with_text(text, LONGEST_NOTE):
        raise CannotNote(f"The note cannot be kept. {problem}")
    Annotator.objects.select_for_update(no_key=True).get(pk=annotator.pk)
    about = {"project": project, "annotator": annotator, "session": session, "text": text.strip(), "by": by}
    if (kept := PersonNote.objects.filter(**about, at__gt=now - SENT_TWICE).first()) is not None:
        return kept
    note = PersonNote.objects.create(**about, at=now)
    record(project=project, what=What.NOTE_ADDED, by=by, now=now, annotator=annotator.pk)
    return note


@transaction.atomic
def delete_note(*, note: PersonNote, by: User, now: datetime) -> None:
    """Delete a note. Raises CannotNote for anybody but its author."""
    if note.by_id != by.pk:
        raise CannotNote("Only its author may delete a note.")
    record(project=note.project, what=What.NOTE_DELETED, by=by, now=now, annotator=note.annotator_id)
    note.delete()

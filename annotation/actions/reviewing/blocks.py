"""Block a person in a project, so that they get no further session in it, and allow them again."""

from datetime import datetime

from django.db import transaction

from annotation.actions.sessions import lock_annotator
from annotation.errors import AnnotationError
from annotation.models import Annotator, Block
from studies.actions.events import Actor, What, person, record
from studies.models import Project
from studies.names import LONGEST_NOTE, problem_with_text


class CannotBlock(AnnotationError):
    """The person cannot be blocked or allowed; the message tells the researcher why."""


@transaction.atomic
def block(*, annotator: Annotator, project: Project, reason: str, by: Actor, now: datetime) -> Block:
    """Let `annotator` start no further session in `project`. Open sessions go on; answers and pay do not change.

    Raises CannotBlock without a reason, and for somebody who is blocked.
    """
    if not reason.strip():
        raise CannotBlock("Give a reason. It is kept with the block, and other researchers read it.")
    if problem := problem_with_text(reason, LONGEST_NOTE):
        raise CannotBlock(f"The reason cannot be kept. {problem}")
    # As an arrival does, so that none begins meanwhile.
    lock_annotator(Annotator.objects.filter(pk=annotator.pk))
    if Block.objects.in_force().filter(annotator=annotator, project=project).exists():
        raise CannotBlock("This person is blocked already.")
    made = Block.objects.create(project=project, annotator=annotator, reason=reason.strip(), by=person(by), at=now)
    record(project=project, what=What.ANNOTATOR_BLOCKED, by=by, now=now, annotator=annotator.pk, reason=reason.strip())
    return made


@transaction.atomic
def allow(*, annotator: Annotator, project: Project, by: Actor, now: datetime) -> None:
    """End the block of `annotator` in `project`. Raises CannotBlock for somebody who is not blocked."""
    blocks = Block.objects.in_force().filter(annotator=annotator, project=project)
    if not blocks.update(ended_at=now):
        raise CannotBlock("This person is not blocked.")
    record(project=project, what=What.ANNOTATOR_ALLOWED, by=by, now=now, annotator=annotator.pk)

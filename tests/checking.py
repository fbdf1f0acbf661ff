"""A study file's section of checks, and sessions whose annotators have failed some."""

import uuid
from typing import Any

from django.db.models import Max

from annotation.models import Response, Seat, Session, Slot
from studies.models import Check, Question, Survey
from tests.factories import NOON, make_instance

CHECKS: dict[str, Any] = {
    "gold": {
        "per_survey": 2,
        "questions": [{"instance": f"vase-{number}", "right": "candidate-1"} for number in range(4)],
    },
    "instruction": {"per_survey": 2},
    "repeat": {"per_survey": 2},
}


def fail_instructions(session: Session, number: int) -> None:
    """Store answers of `session` to `number` more instruction checks, each another one than the text says."""
    seat = Seat.objects.filter(session=session).first()
    if seat is None:
        study = session.study
        survey = Survey.objects.filter(study=study).first() or Survey.objects.create(
            study=study, number=1, seats_planned=1
        )
        last = survey.seats.aggregate(last=Max("number"))["last"] or 0
        seat = Seat.objects.create(
            study=study, survey=survey, number=last + 1, session=session, claimed_at=NOON, filled_at=NOON
        )
    first = (seat.slots.aggregate(last=Max("position"))["last"] or 0) + 1
    project = session.study.project
    instance = project.instances.first() or make_instance(project, "checked")
    for position in range(first, first + number):
        check = Question.with_checks.create(
            study=session.study,
            instance=instance,
            kind="best_of_n",
            content={"caption": "Choose “None of these”.", "options": [], "becomes": "image"},
            right="none",
            check_type=Check.INSTRUCTION,
            source_type=Check.INSTRUCTION,
            source_id=10 * session.pk + position,
            answers_wanted=1,
        )
        slot = Slot.objects.create(
            seat=seat,
            question=check,
            position=position,
            annotator=session.annotator,
            answered_at=NOON,
            is_check=True,
        )
        Response.objects.create(
            study=session.study,
            question=check,
            session=session,
            annotator=session.annotator,
            slot=slot,
            is_check=True,
            submission_id=uuid.uuid4(),
            choice="candidate-0",
            answer="candidate-0",
            shown_order=[],
            received_at=NOON,
        )

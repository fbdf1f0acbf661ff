"""What a live study waits for, in words for researchers."""

from collections.abc import Collection, Mapping
from datetime import datetime

from annotation.actions.arriving.draw_questions import could_draw
from annotation.models import Slot
from studies.models import UNDER_WAY, Study, StudyState


def wait_reason(study: Study, *, now: datetime) -> str:
    """Return in words what `study` waits for while it has no questions; "" otherwise and if it is not live."""
    feeding = study.fed_by
    if feeding is None or study.design.instances.sample is not None or study.state not in UNDER_WAY:
        return ""
    if feeding.state == StudyState.CLOSED or study.completed_at is not None:
        return ""
    is_open = Slot.objects.filter(seat__study=study, answered_at=None, question__undone_at=None).exists()
    if is_open or could_draw(study=study, annotator=None, now=now):
        return ""
    what = "descriptions" if study.design.asks_about_answers else "accepted instances"
    state = {StudyState.DRAFT: ", which is not launched yet", StudyState.PAUSED: ", which is paused"}
    return f"Waiting for {what} from {feeding.slug}{state.get(StudyState(feeding.state), '')}"


def wait_reasons(studies: Collection[int], *, now: datetime) -> Mapping[int, str]:
    """Return study -> `wait_reason`, for `studies` without any questions yet."""
    found = Study.objects.select_related("fed_by").filter(pk__in=studies)
    return {study.pk: wait_reason(study, now=now) for study in found}

"""What a live study waits for, in words for researchers."""

from collections.abc import Collection, Mapping
from datetime import datetime

from annotation.actions.arriving.draw_questions import could_draw
from annotation.models import Slot
from studies.models import UNDER_WAY, Study, StudyState


def waits_for(study: Study, *, now: datetime) -> str:
    """Return in words what `study` waits for while it has no questions; "" otherwise and if it is not live."""
    if not _is_live(study) or study.completed_at is not None:
        return ""
    is_open = Slot.objects.filter(seat__study=study, answered_at=None, question__undone_at=None).exists()
    return "" if is_open or could_draw(study=study, annotator=None, now=now) else _in_words(study)


def waiting_at_first(studies: Collection[int], *, now: datetime) -> Mapping[int, str]:
    """Return study -> `waits_for`, for `studies` without any questions yet."""
    found = Study.objects.select_related("fed_by").filter(pk__in=studies)
    return {study.pk: waits_for(study, now=now) for study in found}


def _is_live(study: Study) -> bool:
    is_fed = study.fed_by is not None and study.design.instances.sample is None
    return is_fed and study.state in UNDER_WAY and study.fed_by is not None and study.fed_by.state != StudyState.CLOSED


def _in_words(study: Study) -> str:
    feeding = study.fed_by
    if feeding is None:
        return ""
    what = "descriptions" if study.design.asks_about_answers else "accepted instances"
    state = {StudyState.DRAFT: ", which is not launched yet", StudyState.PAUSED: ", which is paused"}
    return f"Waiting for {what} from {feeding.slug}{state.get(StudyState(feeding.state), '')}"

"""Links to the studies of a project."""

from dataclasses import dataclass

from django.db.models import Count, Q

from annotation.models import Seat
from studies.models import Project, Study, StudyState

COMPLETE = "complete"


@dataclass(frozen=True)
class StudyLink:
    """A study, and how many of its `places` are `filled`, their last question answered, or `taken` by somebody now.

    Drafts have no places.
    """

    study: Study
    filled: int
    taken: int
    places: int


def study_links(project: Project) -> list[StudyLink]:
    """Return the studies of `project`, latest first. Takes two queries, however many answers there are."""
    places = Seat.objects.filter(study__project=project).order_by().values_list("study_id")
    taken = Count("pk", filter=Q(session__isnull=False, filled_at=None))
    rows = places.annotate(filled=Count("filled_at"), taken=taken, n=Count("pk"))
    counted = {study: counts for study, *counts in rows}
    studies = Study.objects.filter(project=project).defer("source", "design")
    return [StudyLink(study, *counted.get(study.pk, (0, 0, 0))) for study in studies]


def stage_of(study: Study) -> str:
    """Return the state of `study` as shown on pages: "complete" if all answers are in and it is still open."""
    return COMPLETE if study.state == StudyState.OPEN and study.completed_at else study.state


def stage_label(study: Study) -> str:
    """Return the word for `stage_of` on pages. Example: "Complete"."""
    return "Complete" if stage_of(study) == COMPLETE else study.get_state_display()

"""Links to the studies of a project, with what all its pages say of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from results.queries.people.payments_due import owed_by_study
from results.queries.studies.overview import Spending, answers_by_study
from results.queries.studies.progress import Answers
from studies.models import Project, Study, StudyState

COMPLETE = "complete"


@dataclass(frozen=True)
class StudyLink:
    """A study with its progress."""

    study: Study
    answers: Answers


def study_links(project: Project, answers: Mapping[int, Answers]) -> list[StudyLink]:
    """Return the studies of `project`, latest first. Takes one query.

    answers: id of each study with questions -> its progress.
    """
    studies = Study.objects.filter(project=project).defer("source", "design")
    return [StudyLink(study, answers.get(study.pk, Answers(0, 0))) for study in studies]


@dataclass(frozen=True)
class FrameNumbers:
    """What the frame of every page of a project says of its studies.

    answers: id of each study with questions -> its progress. spending: stored with them; None if it was not. as_of:
    when they were counted; None: for this request.
    """

    answers: Mapping[int, Answers]
    spending: Sequence[Spending] | None = None
    as_of: datetime | None = None

    def owed(self, study: Study) -> Decimal | None:
        """Return what `study` costs so far without fees, in its currency; None if that is not known or it is free."""
        pay = study.design.pay
        if study.launched_at is None or not (pay.per_session or pay.per_answer):
            return None
        if self.spending is None:
            return owed_by_study([study])[study.pk].cost(pay.per_answer)
        return next((of.owed for each in self.spending for of in each.studies if of.study == study.slug), None)


def count_for_frame(project: Project) -> FrameNumbers:
    """Count the numbers of a small project."""
    return FrameNumbers(answers_by_study(project))


def stage_of(study: Study) -> str:
    """Return the state of `study` as shown on pages: "complete" if all answers are in and it is still open."""
    return COMPLETE if study.state == StudyState.OPEN and study.completed_at else study.state


def stage_label(study: Study) -> str:
    """Return the word for `stage_of` on pages. Example: "Complete"."""
    return "Complete" if stage_of(study) == COMPLETE else study.get_state_display()

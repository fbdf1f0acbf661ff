"""The state of a study on Prolific, as it was last read, and the way to Prolific without a token."""

from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import Count, Q

from annotation.actions.recruiting.prolific_draft import entry_url
from annotation.models import ProlificStudy, SessionState, Submission
from annotation.recruitment.prolific.bodies import StudyCost
from annotation.recruitment.prolific.researcher_codes import screen_out_terms
from annotation.recruitment.prolific.statuses import StudyStatus, SubmissionStatus
from studies.models import CompletionCode, Outcome, Study, StudyState
from studies.wording import format_money

# In words; any other status is shown as Prolific spells it.
STATUSES = {
    "": "not on Prolific yet",
    StudyStatus.UNPUBLISHED: "draft",
    StudyStatus.SCHEDULED: "scheduled",
    StudyStatus.PUBLISHING: "being published",
    StudyStatus.ACTIVE: "running",
    StudyStatus.AWAITING_REVIEW: "all places taken",
    StudyStatus.PAUSED: "paused",
    StudyStatus.COMPLETED: "stopped",
}
_IN_PROGRESS = {StudyStatus.ACTIVE, StudyStatus.AWAITING_REVIEW, StudyStatus.PUBLISHING}


@dataclass(frozen=True)
class ProlificState:
    """A study on Prolific. submissions: (status, number), in the order that Prolific lists statuses.

    approved, to_review: rewards of these submissions, without fee, in whole units of the row's currency. rounds:
    studies on Prolific before this one. lost: people who finished here, and whose place is somebody else's on Prolific.
    """

    row: ProlificStudy
    submissions: list[tuple[str, int]]
    approved: Decimal
    to_review: Decimal
    rounds: int
    lost: int

    @property
    def status(self) -> str:
        return STATUSES.get(self.row.status, self.row.status)

    @property
    def is_draft(self) -> bool:
        return self.row.status in {"", StudyStatus.UNPUBLISHED}

    @property
    def can_pause(self) -> bool:
        return self.row.status == StudyStatus.ACTIVE

    @property
    def can_resume(self) -> bool:
        return self.row.status == StudyStatus.PAUSED

    @property
    def can_stop(self) -> bool:
        return self.row.status in _IN_PROGRESS | {StudyStatus.PAUSED}

    @property
    def sends_people(self) -> bool:
        return self.row.status in _IN_PROGRESS

    @property
    def sends_people_in_vain(self) -> bool:
        """Whether people still come from Prolific while the study here lets nobody in."""
        return self.sends_people and self.row.study.state != StudyState.OPEN

    @property
    def open_places(self) -> int:
        """Places that people can still take on Prolific."""
        return max(self.row.places - self.row.places_taken, 0) if self.sends_people else 0

    @property
    def extra_people(self) -> int:
        """People who will still come although somebody in their place has finished here."""
        return min(self.lost, self.open_places)

    @property
    def enough_at(self) -> int:
        """How many places are taken on Prolific once nobody but the extra people is missing."""
        return self.row.places - self.extra_people

    @property
    def screen_outs(self) -> tuple[int, int] | None:
        """How many people were screened out, and how many Prolific pays for that; None if the draft pays nobody."""
        terms = screen_out_terms(self.row.details)
        return None if terms is None else (dict(self.submissions).get(SubmissionStatus.SCREENED_OUT, 0), terms[1])

    @property
    def address(self) -> str:
        """The study's page on Prolific."""
        return f"{settings.PROLIFIC_SITE}/researcher/studies/{self.row.remote_id}" if self.row.remote_id else ""


def prolific_state(study: Study) -> ProlificState | None:
    """Return the last study on Prolific that sends people to `study`; None without one."""
    rows = list(study.prolific_studies.all())
    if not rows:
        return None
    row = rows[0]
    row.study = study
    finished = Q(flag=Submission.Flag.PLACE_LOST, session__state=SessionState.FINISHED)
    counts = row.submissions.order_by().values_list("status")
    counted = list(counts.annotate(number=Count("pk"), lost=Count("pk", filter=finished)))
    found = {status: number for status, number, _ in counted}
    known = [status for status in SubmissionStatus if status in found]
    order = [*known, *sorted(set(found) - set(known))]
    return ProlificState(
        row,
        submissions=[(str(status), found[status]) for status in order],
        approved=row.reward * found.get(SubmissionStatus.APPROVED, 0),
        to_review=row.reward * found.get(SubmissionStatus.AWAITING_REVIEW, 0),
        rounds=len(rows) - 1,
        lost=sum(lost for _, _, lost in counted),
    )


def cost_in_words(cost: StudyCost) -> str:
    """Return what Prolific says that a study has cost so far."""
    parts = (cost.rewards, cost.bonuses)
    currency = cost.rewards.rewards.currency
    paid = [sum(getattr(part, name).amount for part in parts) for name in ("rewards", "fees", "tax")]
    rewards, fees, tax = (format_money(Decimal(cents) / 100, currency) for cents in paid)
    whole = format_money(Decimal(sum(paid)) / 100, currency)
    return f"Prolific says: {whole} so far ({rewards} for people, {fees} fee, {tax} tax)."


def form_on_prolific(study: Study) -> str:
    """Return the address of Prolific's own form, filled in as far as its address allows (prolific.md, section 2.1)."""
    code = CompletionCode.objects.filter(study=study, outcome=Outcome.FINISHED).values_list("code", flat=True).first()
    fields = {
        "name": study.title,
        "internal_name": f"{study.project.slug}-{study.slug}",
        "description": f"This takes about {study.design.time.estimated_minutes} minutes.",
        "external_study_url": entry_url(study),
        "completion_code": code or "",
        "completion_option": "url",
        "prolific_id_option": "url_parameters",
    }
    return f"{settings.PROLIFIC_SITE}/researcher/studies/new?{urlencode(fields)}"

"""Studies of ours that are published on a local platform, and people who come from there."""

from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.contrib.auth.models import User

from annotation.actions import sessions
from annotation.actions.answering import advance_session
from annotation.actions.ending.platform_outcome import show_completion_code
from annotation.actions.recruiting import prolific_studies
from annotation.actions.recruiting.prolific_draft import Draft
from annotation.actions.recruiting.submissions import read_study
from annotation.models import ProlificAccount, ProlificStudy, Session, Submission
from annotation.recruitment.prolific import bodies, entry
from background.sealed_secrets import seal
from simulation.prolific_double.server import WORKSPACE
from studies.actions.completion_codes import completion_code
from studies.models import Outcome, Project, Study
from tests.annotation.test_pipeline import answer_all
from tests.factories import NOON, PROLIFIC_DRAFT, fresh
from tests.prolific import BY_RESEARCHER, TOKEN, Local, new_study

PLACEHOLDERS = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
ENDINGS: dict[Outcome, bodies.CodeType] = {
    Outcome.FINISHED: "COMPLETED",
    Outcome.NO_CONSENT: "NO_CONSENT",
    Outcome.FAILED_CHECKS: "OTHER",
}


def connect_to(project: Project) -> ProlificAccount:
    """Return the project's account at the local platform."""
    account, _ = ProlificAccount.objects.get_or_create(
        project=project,
        defaults={"sealed_token": seal(TOKEN), "user_id": "5f00", "workspace_id": WORKSPACE, "saved_at": NOON},
    )
    return account


def drafted(study: Study, by: User, **changes: Any) -> ProlificStudy:
    """Return a draft that Prolific has."""
    draft = Draft(**{**vars(PROLIFIC_DRAFT), **changes})
    row = prolific_studies.write_draft(study=study, draft=draft, by=by, now=NOON)
    prolific_studies.send_draft(prolific_study=row, now=NOON)
    return fresh(row)


def published(study: Study, by: User, **changes: Any) -> ProlificStudy:
    row = drafted(study, by, **changes)
    prolific_studies.publish(prolific_study=row, by=by, now=NOON)
    return fresh(row)


def remote_studies(local: Local) -> list[dict[str, Any]]:
    """Return the studies that the platform has."""
    return local.double.store.list("study")


def recruit_for(study: Study, local: Local, *, places: int = 3, **changes: object) -> ProlificStudy:
    """Publish a study on the local platform; it is due to be read."""
    connect_to(study.project)
    codes = [
        bodies.CompletionCode(
            code=completion_code(study=study, outcome=outcome), code_type=kind, actions=(bodies.ManuallyReview(),)
        )
        for outcome, kind in ENDINGS.items()
    ]
    own = bodies.CompletionCode(
        code=BY_RESEARCHER, code_type="OTHER", actor="researcher", actions=(bodies.ManuallyReview(),)
    )
    details = new_study(
        external_study_url=f"http://testserver/take/{study.entry_name}/?{PLACEHOLDERS}",
        total_available_places=places,
        completion_codes=(*codes, own),
        **changes,
    )
    remote = local.client.publish_study(local.client.create_study(details).id)
    return ProlificStudy.objects.create(
        study=study,
        remote_id=remote.id,
        internal_name=f"lineup-{remote.id}",
        details=details.model_dump(mode="json", exclude_none=True),
        status=remote.status,
        places=places,
        reward="4.00",
        currency="USD",
        created_at=NOON,
        published_at=NOON,
        due_at=NOON,
    )


def link_of(local: Local, submission: str) -> str:
    """Return path and query of the link with which a participant opens the study."""
    parts = urlsplit(local.play("open", submission=submission)["url"])
    return f"{parts.path}?{parts.query}"


def come(local: Local, row: ProlificStudy, participant: str, *, identity: str = "") -> tuple[str, Session]:
    """Return the submission of a participant who opens the study, and their session here."""
    submission = local.taken(row.remote_id, participant)
    query = dict(parse_qsl(urlsplit(link_of(local, submission)).query))
    session = sessions.start(
        study=row.study, entry=entry.read_entry(query, any_ids=False), now=local.time, identity=identity
    )
    return submission, session


def finish(session: Session, now: datetime) -> Session:
    """Answer all questions of a session that has just begun; its last answer is stored at `now`."""
    sessions.consent(session=session, agreed=True, now=now)
    advance_session.begin(session=session, part=0, now=now)
    answer_all(session, "none")
    Session.objects.filter(pk=session.pk).update(ended_at=now)
    return fresh(session)


def code_shown(session: Session) -> str:
    return show_completion_code(session=session, now=NOON)


def mirror(row: ProlificStudy, now: datetime) -> ProlificStudy:
    """Read a study that is due by now, and return it."""
    ProlificStudy.objects.filter(pk=row.pk).update(due_at=now)
    read_study(study=row.pk, now=now)
    return fresh(row)


def flags(row: ProlificStudy) -> list[tuple[str, str]]:
    """Return status and flag of each submission."""
    return list(Submission.objects.filter(prolific_study=row).order_by("pk").values_list("status", "flag"))

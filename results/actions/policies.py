"""Have the policies of a study act: pause it, or ask others the questions of excluded people.

A pause keeps new people out; whoever is at work finishes. A policy acts once until somebody resumes the study, and then
counts only what came since.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from annotation.actions.recruiting import prolific_studies
from annotation.actions.removing import removals
from annotation.models import Annotator, ProlificStudy
from annotation.recruitment.prolific.statuses import StudyStatus
from results.models import PolicyAct
from results.queries.studies.policies import PolicyLine, cost_so_far, excluded_in_places, policy_lines
from studies.actions.events import Actor, What, record
from studies.actions.studies import change_state
from studies.models import UNDER_WAY, Event, Study, StudyState
from studies.policies import Act, Need, get_policy


@dataclass(frozen=True)
class PolicyPause:
    """A pause of a study. reasons: the name of each policy that called for it -> its sentence."""

    study: Study
    reasons: dict[str, str]


def studies_with_policies() -> list[int]:
    """Return the ids of the studies under way that have policies."""
    under_way = Study.objects.filter(state__in=UNDER_WAY, project__archived_at=None).defer("source").order_by("pk")
    return [study.pk for study in under_way if study.design.policies]


def act_on_policies(*, study: Study, by: Actor, now: datetime) -> PolicyPause | None:
    """Have each policy of `study` act whose bound is crossed; return the pause if there is one."""
    if study.state not in UNDER_WAY:
        return None
    lines = policy_lines(study)
    for line in lines:
        if line.policy.act is Act.REPLACE and line.would_act:
            _replace(study, line, by=by, now=now)
    return _pause(study, lines, by=by, now=now)


@transaction.atomic
def _pause(study: Study, lines: Sequence[PolicyLine], *, by: Actor, now: datetime) -> PolicyPause | None:
    """Pause `study` if a policy calls for it, unless somebody has paused, resumed or closed it meanwhile."""
    pausing = [line for line in lines if line.policy.act is Act.PAUSE and line.would_act]
    if not pausing:
        return None
    # Of two concurrent runs the second finds it paused.
    study = Study.objects.select_for_update(of=("self",), no_key=True).select_related("project").get(pk=study.pk)
    read = {line.name: (line.last.pk, line.last.resumed_at) for line in lines if line.last is not None}
    latest = {act.policy: (act.pk, act.resumed_at) for act in PolicyAct.objects.filter(study=study).order_by("pk")}
    if study.state != StudyState.OPEN or latest != read:
        return None
    change_state(study=study, to=StudyState.PAUSED, by=by, now=now)
    reasons = {line.name: line.sentence for line in pausing}
    for line in pausing:
        evidence = {"sentence": line.sentence}
        PolicyAct.objects.create(study=study, policy=line.name, acted_at=now, evidence=evidence)
        told = {"policy": line.name, "finding": line.sentence}
        record(project=study.project, study=study, what=What.POLICY_PAUSED, by=by, now=now, **told)
    return PolicyPause(study, reasons)


@transaction.atomic
def _replace(study: Study, line: PolicyLine, *, by: Actor, now: datetime) -> None:
    """Open the places of excluded answers to `study` for others."""
    people = Annotator.objects.filter(pk__in=excluded_in_places(study).values("annotator")).order_by("pk")
    freed = answers = 0
    for annotator in people:
        # They may have been included again meanwhile.
        with suppress(removals.CannotRemove):
            opened = removals.reopen_slots(annotator=annotator, project=study.project, study=study, by=by, now=now)
            freed += opened.freed
            answers += opened.answers
    if freed:
        told = {"policy": line.name, "finding": line.sentence, "answers": answers}
        record(project=study.project, study=study, what=What.POLICY_REPLACED, by=by, now=now, **told)


def pause_on_prolific(*, study: Study, by: Actor, now: datetime) -> None:
    """Pause `study` on Prolific too while a policy keeps it paused here: people would come for nothing.

    Those who have a place finish. Raises StudyError if Prolific does not; the next run tries again.
    """
    is_paused = study.state == StudyState.PAUSED
    if is_paused and PolicyAct.objects.filter(study=study, resumed_at=None).exists():
        for row in ProlificStudy.objects.filter(study=study, status=StudyStatus.ACTIVE).order_by("pk"):
            prolific_studies.pause(prolific_study=row, by=by, now=now)


def note_resumed(*, event: Event) -> None:
    """Let the policies of a study that was resumed act again, on what comes from then on."""
    if event.what != What.STUDY_RESUMED or event.study is None:
        return
    for act in PolicyAct.objects.filter(study=event.study, resumed_at=None):
        act.resumed_at = event.at
        if get_policy(act.policy).need is Need.COST:
            # People at work finished meanwhile; whoever resumes the study has seen what it costs.
            act.evidence["cost"] = str(cost_so_far(event.study))
        act.save(update_fields=["resumed_at", "evidence"])

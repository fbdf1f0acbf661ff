"""The four changes to whether a person's answers count, by their names in addresses."""

from collections.abc import Callable, Mapping
from datetime import datetime

from django.contrib.auth.models import User

from annotation.actions.removing import removals
from annotation.actions.removing.removals import RemovalEffects
from annotation.actions.removing.reopen_places import ReopenedPlaces
from results.actions.participants import NamedAnnotator
from studies.models import Project

Act = Callable[[NamedAnnotator, Project, str, User, datetime], RemovalEffects | ReopenedPlaces]


def _without_reason(act: Callable[..., RemovalEffects | ReopenedPlaces]) -> Act:
    return lambda person, project, _, by, now: act(annotator=person.annotator, project=project, by=by, now=now)


ACTS: Mapping[str, Act] = {
    "withdraw": _without_reason(removals.withdraw),
    "exclude": lambda person, project, reason, by, now: removals.exclude(
        annotator=person.annotator, project=project, reason=reason, by=by, now=now
    ),
    "include": _without_reason(removals.include),
    "reopen": _without_reason(removals.reopen_slots),
}

"""People who arrived through one study and took part in the study that feeds it: who waits in a lobby may do so.

Their submission stays with the study through which they arrived, so they are reviewed and paid there.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from annotation.models import Session, SessionState
from results.models import Pseudonym
from studies.models import Study


@dataclass(frozen=True)
class Elsewhere:
    """People of a study who are reviewed in another `study`: (pseudonym, session there, status on Prolific)."""

    study: Study
    people: list[tuple[str, int, str]] = field(default_factory=list)


def took_part_in(study: Study, session: int | None = None) -> dict[int, Session]:
    """Return the sessions that arrived at `study` and left it for its feeding study: id -> the session there.

    session: None for all.
    """
    if study.fed_by is None:
        return {}
    left = _left().filter(study=study)
    if session is not None:
        left = left.filter(pk=session)
    return {each.pk: taken for each, taken in _pairs(left, study.fed_by)}


def arrived_at(study: Study) -> list[tuple[Session, Session]]:
    """Return the sessions that took part in `study` and arrived at another one: the one there, and the one here."""
    return _pairs(_left().filter(study__fed_by=study).select_related("study__project", "submission"), study)


def reviewed_elsewhere(study: Study) -> Sequence[Elsewhere]:
    """Return the studies in which people who took part in `study` are reviewed. Everybody has a name."""
    pairs = arrived_at(study)
    if not pairs:
        return []
    names = dict(Pseudonym.objects.filter(project=study.project_id).values_list("annotator_id", "name"))
    found: dict[int, Elsewhere] = {}
    for left, _ in pairs:
        person = names.get(left.annotator_id, ""), left.pk, left.submission.status
        found.setdefault(left.study_id, Elsewhere(left.study)).people.append(person)
    return list(found.values())


def _left() -> QuerySet[Session]:
    return Session.objects.filter(state=SessionState.SUPERSEDED, submission__isnull=False).order_by("pk")


def _pairs(left: Iterable[Session], to: Study) -> list[tuple[Session, Session]]:
    """Return each session with the one in the study `to` that has the same submission."""
    by_digest = {digest: session for session in left for digest in session.known_digests()}
    if not by_digest:
        return []
    found = []
    for taken in Session.objects.filter(study=to, id_digest__in=by_digest).order_by("pk"):
        # One design for all, which is read by the marks.
        taken.study = to
        left_there = by_digest[taken.id_digest or ""]
        if left_there.annotator_id == taken.annotator_id:
            found.append((left_there, taken))
    return found

"""Groups of people declared by a project, such as annotators of its test split; studies may require one."""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from annotation.models import Annotator, GroupMember
from studies.actions.events import Actor, What, record
from studies.errors import StudyError
from studies.models import Project

BATCH = 500
LONGEST_NAME = 50


@transaction.atomic
def set_group(*, project: Project, group: str, provider: str, people: Iterable[str], by: Actor, now: datetime) -> int:
    """Replace the members of `group` by the people with these ids at `provider`; return how many there are.

    The ids are normalised. No people deletes the group. Members need not have arrived yet; open sessions continue.
    Raises StudyError for a name that study files cannot use.
    """
    if not 0 < len(group) <= LONGEST_NAME:
        raise StudyError(f"The name of a group has 1 to {LONGEST_NAME} characters.")
    # One list at a time, so that two lists sent at the same moment are not merged.
    Project.objects.select_for_update(of=("self",), no_key=True).get(pk=project.pk)
    found = _find_or_create(provider, list(dict.fromkeys(people)))
    GroupMember.objects.filter(project=project, group=group).delete()
    GroupMember.objects.bulk_create(
        (GroupMember(project=project, group=group, annotator_id=pk) for pk in found), batch_size=BATCH
    )
    record(project=project, what=What.GROUP_SET, by=by, now=now, group=group, people=len(found))
    return len(found)


def _find_or_create(provider: str, ids: list[str]) -> list[int]:
    """Return the keys of the annotators with these ids; those who have not come yet are created."""
    found: list[int] = []
    for start in range(0, len(ids), BATCH):
        batch = ids[start : start + BATCH]
        known = _known(provider, batch)
        missing = [person for person in batch if person not in known]
        Annotator.objects.bulk_create(
            (Annotator(provider=provider, **Annotator.seal_id(person)) for person in missing), ignore_conflicts=True
        )
        # Somebody may have arrived meanwhile, so that keys are read and not taken from what was created.
        known |= _known(provider, missing)
        found += known.values()
    return found


def _known(provider: str, ids: list[str]) -> dict[str, int]:
    """Return the keys of the annotators that exist, by id."""
    by_digest = {digest: person for person in ids for digest in Annotator.digests_of([person])}
    rows = Annotator.objects.filter(provider=provider, id_digest__in=by_digest).values_list("id_digest", "pk")
    return {by_digest[digest or ""]: pk for digest, pk in rows}

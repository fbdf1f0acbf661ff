"""Participant groups on Prolific: the people whom a study keeps out, or the only ones whom it lets in.

Prolific keeps out whoever would be refused here, so that nobody takes a place for nothing.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from annotation.actions.arriving.eligibility import check
from annotation.errors import NotEligible
from annotation.models import Annotator, Block, GroupMember, ProlificStudy, Removal, Session, SessionState
from annotation.models.sessions import TAKEN_PART
from annotation.recruitment.prolific import bodies
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import ProlificError
from annotation.recruitment.prolific.entry import PROVIDER
from background.sealed_secrets import CannotUnseal
from studies.eligibility import bars_questions
from studies.errors import StudyError
from studies.models import Study
from studies.wording import format_count

BLOCKLIST, ALLOWLIST = "participant_group_blocklist", "participant_group_allowlist"
# Participants sent in one request.
BATCH = 500
_PARTICIPANT = re.compile(r"[0-9a-f]{24}")


@dataclass(frozen=True)
class People:
    """kept_out: whom a study would refuse. let_in: the only people whom it is for; None: anybody else.

    Numbers of annotators.
    """

    kept_out: frozenset[int]
    let_in: frozenset[int] | None


def find_people(study: Study) -> People:
    """Return whom `study` would refuse if they came from Prolific, of all people that the project knows."""
    kept_out = _removed(study) | _has_taken_part(study)
    rules = [each for each in study.design.eligibility if not bars_questions(each.rule)]
    if not rules:
        return People(kept_out, None)
    known = _known(study, {each.parameters["study"] for each in rules if "study" in each.parameters})
    refused = frozenset(annotator.pk for annotator in known if _is_refused(study, annotator))
    if _is_refused(study, None):
        return People(kept_out, frozenset(annotator.pk for annotator in known) - refused - kept_out)
    return People(kept_out | refused, None)


def _removed(study: Study) -> frozenset[int]:
    """Return whose answers do not count in the project, and who may not start a session there or anywhere."""
    removed = Removal.objects.in_force().filter(project=study.project_id).values("annotator")
    blocked = Block.objects.in_force().filter(project=study.project_id).values("annotator")
    gone = Annotator.objects.filter(Q(blocked=True) | Q(pk__in=removed) | Q(pk__in=blocked), provider=PROVIDER)
    return frozenset(gone.values_list("pk", flat=True))


def _has_taken_part(study: Study) -> frozenset[int]:
    """Return who has had all surveys that one person may take, or has failed the practice."""
    sessions = Session.objects.filter(study=study, annotator__provider=PROVIDER).order_by()
    failed = sessions.filter(state=SessionState.FAILED_CHECKS).values_list("annotator", flat=True)
    most = study.design.recruitment.sessions_per_annotator
    if not most:
        return frozenset(failed)
    done = sessions.filter(state__in=TAKEN_PART).values("annotator").annotate(times=Count("pk"))
    return frozenset(failed) | frozenset(done.filter(times__gte=most).values_list("annotator", flat=True))


def _known(study: Study, slugs: Collection[str]) -> QuerySet[Annotator]:
    """Return the people whom the rules may treat differently from people who are new here."""
    came = Session.objects.filter(study__project=study.project_id, study__slug__in=slugs).values("annotator")
    members = GroupMember.objects.filter(project=study.project_id).values("annotator")
    return Annotator.objects.filter(Q(pk__in=came) | Q(pk__in=members), provider=PROVIDER).order_by("pk")


def _is_refused(study: Study, annotator: Annotator | None) -> bool:
    try:
        check(study=study, annotator=annotator, provider=PROVIDER)
    except NotEligible:
        return True
    return False


def participant_ids(annotators: Collection[int]) -> list[str]:
    """Return the ids that Prolific knows these annotators by; not those of another form. Raises ProlificError."""
    people = Annotator.objects.filter(pk__in=annotators, provider=PROVIDER).order_by("pk")
    try:
        ids = [person.provider_id for person in people]
    except CannotUnseal as error:
        raise ProlificError(
            "Ids of people were encrypted under a key that this site no longer has. Add it to ENCRYPTION_KEYS.",
            status=None,
            body=None,
        ) from error
    return [id_ for id_ in ids if _PARTICIPANT.fullmatch(id_)]


def send_people(
    client: Client,
    *,
    study: Study,
    workspace: str,
    chosen: Sequence[bodies.ChosenFilter] = (),
    needs_somebody: bool = False,
) -> tuple[bodies.SelectFilter, ...]:
    """Bring our groups for `study` on Prolific up to date, and return the filters that use them.

    Of the people whom the rules let in, only those are let in who are in the groups that a researcher has `chosen` to
    allow, too. needs_somebody: refuse if there is nobody who is both.

    Twice equals once: a group is found by its name. Raises ProlificError, and StudyError.
    """
    people, prefix = find_people(study), group_prefix(study)
    groups = {group.name: group.id for group in client.list_groups(workspace) if not group.is_deleted}

    def send(filter_id: str, name: str, ids: Sequence[str]) -> bodies.SelectFilter:
        if name not in groups:
            groups[name] = client.create_group(workspace, name=name, participants=ids[:BATCH]).id
        _fit_members(client, groups[name], ids)
        return bodies.SelectFilter(filter_id=filter_id, selected_values=(groups[name],))

    # First, so that people are also kept out if a group that a researcher allows was deleted.
    kept_out = send(BLOCKLIST, f"{prefix}: keep out", participant_ids(people.kept_out))
    if people.let_in is None:
        return (kept_out,)
    let_in = participant_ids(people.let_in)
    allowed = _allowed(client, chosen)
    both = let_in if allowed is None else [id_ for id_ in let_in if id_ in allowed]
    if needs_somebody and let_in and not both:
        raise StudyError(
            f"The study’s rules let {format_count(len(let_in), 'known participant')} in, and none of them is in "
            "the participant groups that you allow. Allow another group, or none."
        )
    return kept_out, send(ALLOWLIST, f"{prefix}: only these", both)


def allows_groups(prolific_study: ProlificStudy) -> bool:
    """Whether a researcher has chosen groups, so that nobody else may take part."""
    return any(one["filter_id"] == ALLOWLIST for one in prolific_study.details.get("filters", ()))


def _allowed(client: Client, chosen: Sequence[bodies.ChosenFilter]) -> frozenset[str] | None:
    """Return who is in one of the groups that are allowed; None if no group is, so that anybody may come."""
    groups = [
        group
        for one in chosen
        if isinstance(one, bodies.SelectFilter) and one.filter_id == ALLOWLIST
        for group in one.selected_values
    ]
    return frozenset(id_ for group in groups for id_ in client.list_group_members(group)) if groups else None


def group_prefix(study: Study) -> str:
    """Return how the names of our groups for `study` begin: another site may use the same workspace."""
    return f"Lineup {study.project.slug}/{study.slug} {study.entry_name[:8]}"


def _fit_members(client: Client, group: str, ids: Sequence[str]) -> None:
    """Make the members of a group these, and nobody else."""
    there, wanted = set(client.list_group_members(group)), set(ids)
    missing, gone = [id_ for id_ in ids if id_ not in there], sorted(there - wanted)
    for start in range(0, len(missing), BATCH):
        client.add_to_group(group, missing[start : start + BATCH])
    for start in range(0, len(gone), BATCH):
        client.remove_from_group(group, gone[start : start + BATCH])


def join_filters(
    chosen: Sequence[bodies.ChosenFilter], ours: Sequence[bodies.SelectFilter]
) -> tuple[bodies.ChosenFilter, ...]:
    """Return both lists as one: Prolific has each filter once.

    A person must be in a group of each list that allows groups. Prolific cannot say so, and ours has only these people.
    """
    joined = {one.filter_id: one for one in chosen}
    for one in ours:
        before = joined.get(one.filter_id)
        if one.filter_id == BLOCKLIST and isinstance(before, bodies.SelectFilter):
            values = (*before.selected_values, *one.selected_values)
            joined[one.filter_id] = bodies.SelectFilter(filter_id=BLOCKLIST, selected_values=values)
        else:
            joined[one.filter_id] = one
    return tuple(joined.values())

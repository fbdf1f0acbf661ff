"""Participant groups on Prolific, against the local platform: whom a study keeps out there, and whom it lets in."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from annotation.actions.arriving.groups import set_group
from annotation.actions.recruiting import prolific_people, prolific_studies
from annotation.actions.recruiting.prolific_account import choose_workspace
from annotation.actions.recruiting.prolific_people import find_people, group_prefix
from annotation.actions.removing.removals import exclude, include
from annotation.models import Annotator, ProlificAccount, ProlificStudy, SessionState
from annotation.recruitment.prolific import bodies
from annotation.tasks import update_prolific_people
from simulation.prolific_double.api import SECOND_WORKSPACE
from simulation.prolific_double.server import WORKSPACE
from simulation.prolific_double.switches import Switch
from studies.errors import StudyError
from studies.models import Study
from tests.factories import NOON, answer, fresh, launch_study, make_project, questions, sit_down
from tests.prolific import Local
from tests.recruited import drafted, published, remote_studies

pytestmark = pytest.mark.django_db
ANN, BEN, EVE, DAN = (f"60bf9310e8dec401be6e961{digit}" for digit in range(4))


def members(local: Local, study: Study, what: str = "keep out") -> list[str]:
    name = f"{group_prefix(study)}: {what}"
    [group] = [one for one in local.client.list_groups(WORKSPACE) if one.name == name]
    return local.client.list_group_members(group.id)


def came(study: Study, person: str, **fields: Any) -> Annotator:
    fields = {"state": SessionState.FINISHED, **fields}
    return sit_down(study, person, **fields).annotator


def test_who_was_excluded_or_blocked_is_kept_out_on_prolific(local: Local, study: Study, by: User) -> None:
    other = launch_study(study.project, study="other-vase", recruitment={"any_ids": False})
    exclude(annotator=came(other, ANN), project=study.project, reason="Careless", by=by, now=NOON)
    blocked = came(other, BEN)
    Annotator.objects.filter(pk=blocked.pk).update(blocked=True)
    came(other, EVE)
    row = published(study, by)
    assert members(local, study) == [ANN, BEN]
    for person, is_let_in in ((ANN, False), (BEN, False), (EVE, True), (DAN, True)):
        if is_let_in:
            local.taken(row.remote_id, person)
        else:
            with pytest.raises(AssertionError, match="not for this participant"):
                local.taken(row.remote_id, person)


def test_who_has_taken_part_is_kept_out_of_the_next_round(local: Local, study: Study, by: User) -> None:
    came(study, ANN)
    came(study, BEN, state=SessionState.GIVEN_UP)
    came(study, EVE, state=SessionState.FAILED_CHECKS)
    drafted(study, by)
    assert members(local, study) == [ANN, EVE]


def test_annotators_of_another_study_are_kept_out(local: Local, by: User) -> None:
    project = make_project()
    pilot = launch_study(project, study="pilot")
    study = launch_study(project, study="test-split", eligibility=[{"rule": "not_in_study", "study": "pilot"}])
    session = sit_down(pilot, ANN, state=SessionState.FINISHED)
    answer(session, questions(pilot)[0], "candidate-0")
    came(pilot, BEN)
    people = find_people(study)
    assert prolific_people.participant_ids(people.kept_out) == [ANN]
    assert people.let_in is None


def test_a_study_for_a_group_lets_only_that_group_in(local: Local, study: Study, by: User) -> None:
    for_group = launch_study(study.project, study="for-group", eligibility=[{"rule": "in_group", "group": "test"}])
    set_group(project=study.project, group="test", provider="prolific", people=[ANN, BEN, "no id"], by=by, now=NOON)
    row = drafted(for_group, by)
    assert members(local, for_group, "only these") == [ANN, BEN]
    filters = {one["filter_id"] for one in remote_studies(local)[0]["filters"]}
    assert filters == {"participant_group_blocklist", "participant_group_allowlist"}
    # A list that changes later changes the group, also of a published study.
    prolific_studies.publish(prolific_study=row, by=by, now=NOON)
    set_group(project=study.project, group="test", provider="prolific", people=[BEN, EVE], by=by, now=NOON)
    prolific_studies.refresh(prolific_study=row, now=NOON)
    assert sorted(members(local, for_group, "only these")) == [BEN, EVE]


def test_people_must_be_in_the_group_of_the_rules_and_in_one_that_is_allowed(
    local: Local, study: Study, by: User
) -> None:
    """The rules let Ann, Ben and Eve in; the two groups that a researcher allows have Ben, Eve and Dan."""
    for_group = launch_study(study.project, study="for-group", eligibility=[{"rule": "in_group", "group": "test"}])
    set_group(project=study.project, group="test", provider="prolific", people=[ANN, BEN, EVE], by=by, now=NOON)
    fast, careful = (
        local.client.create_group(WORKSPACE, name=name, participants=people).id
        for name, people in (("Fast", [BEN, DAN]), ("Careful", [EVE]))
    )
    allowed = bodies.SelectFilter(filter_id="participant_group_allowlist", selected_values=(fast, careful))
    row = published(for_group, by, filters=(allowed,))
    assert members(local, for_group, "only these") == [BEN, EVE]
    for person, is_let_in in ((ANN, False), (DAN, False), (BEN, True)):
        if is_let_in:
            local.taken(row.remote_id, person)
        else:
            with pytest.raises(AssertionError, match="not for this participant"):
                local.taken(row.remote_id, person)
    # Groups change, on Prolific as here.
    local.client.remove_from_group(careful, [EVE])
    local.client.add_to_group(fast, [ANN])
    update_prolific_people()
    assert sorted(members(local, for_group, "only these")) == [ANN, BEN]
    # What the researcher chose is kept as it was chosen.
    assert fresh(row).details["filters"] == [allowed.model_dump(mode="json")]
    # People are kept out also after a group that is allowed was deleted.
    deleted = allowed.model_copy(update={"selected_values": ("66f00000000000000000dead",)})
    ProlificStudy.objects.update(details={**row.details, "filters": [deleted.model_dump(mode="json")]})
    came(for_group, EVE)
    update_prolific_people()
    assert members(local, for_group) == [EVE]


def test_a_group_that_nobody_of_the_rules_is_in_is_refused(local: Local, study: Study, by: User) -> None:
    for_group = launch_study(study.project, study="for-group", eligibility=[{"rule": "in_group", "group": "test"}])
    set_group(project=study.project, group="test", provider="prolific", people=[ANN], by=by, now=NOON)
    other = local.client.create_group(WORKSPACE, name="Others", participants=[DAN]).id
    allowed = bodies.SelectFilter(filter_id="participant_group_allowlist", selected_values=(other,))
    with pytest.raises(StudyError) as raised:
        drafted(for_group, by, filters=(allowed,))
    assert str(raised.value) == (
        "The study’s rules let 1 known participant in, and none of them is in the participant groups that you allow. "
        "Allow another group, or none."
    )
    assert remote_studies(local) == []


def test_who_is_excluded_later_is_kept_out_within_minutes(local: Local, study: Study, by: User) -> None:
    published(study, by)
    other = launch_study(study.project, study="other-vase", recruitment={"any_ids": False})
    ann = came(other, ANN)
    exclude(annotator=ann, project=study.project, reason="Careless", by=by, now=NOON)
    assert members(local, study) == []
    local.switch(Switch.AWAY)
    update_prolific_people()
    local.switch(Switch.AWAY, "off")
    update_prolific_people()
    assert members(local, study) == [ANN]
    include(annotator=ann, project=study.project, by=by, now=NOON)
    update_prolific_people()
    assert members(local, study) == []


def test_groups_are_made_once(local: Local, study: Study, by: User) -> None:
    drafted(study, by)
    drafted(study, by, places=7)
    assert len(local.client.list_groups(WORKSPACE)) == 1
    values = [one["selected_values"] for one in remote_studies(local)[0]["filters"]]
    assert len(values) == 1


def test_chosen_groups_and_ours_are_one_filter(local: Local, study: Study, by: User) -> None:
    chosen = local.client.create_group(WORKSPACE, name="Careless elsewhere", participants=[DAN]).id
    mine = bodies.SelectFilter(filter_id="participant_group_blocklist", selected_values=(chosen,))
    rate = bodies.RangeFilter(filter_id="approval_rate", selected_range=bodies.Range(lower=98, upper=100))
    row = drafted(study, by, filters=(rate, mine))
    ours = next(one.id for one in local.client.list_groups(WORKSPACE) if one.id != chosen)
    assert remote_studies(local)[0]["filters"] == [
        {"filter_id": "approval_rate", "selected_range": {"lower": 98, "upper": 100}},
        {"filter_id": "participant_group_blocklist", "selected_values": [chosen, ours]},
    ]
    assert len(row.details["filters"]) == 2


# Another workspace


@pytest.fixture
def second(local: Local, study: Study, by: User) -> Callable[[], None]:
    """Have another workspace pay from now on."""
    local.switch(Switch.SECOND_WORKSPACE)

    def choose() -> None:
        account = ProlificAccount.objects.get(project=study.project)
        choose_workspace(account=account, workspace=SECOND_WORKSPACE, title="Second", by=by, now=NOON)

    return choose


def groups_in(local: Local, workspace: str) -> list[int]:
    """Return how many members each group of a workspace has."""
    return [len(local.client.list_group_members(one.id)) for one in local.client.list_groups(workspace)]


def test_groups_of_a_published_study_stay_in_the_workspace_that_paid_then(
    local: Local, study: Study, by: User, second: Callable[[], None]
) -> None:
    row = published(study, by)
    second()
    came(study, ANN)
    update_prolific_people()
    assert (groups_in(local, WORKSPACE), groups_in(local, SECOND_WORKSPACE)) == ([1], [])
    prolific_studies.pause(prolific_study=row, by=by, now=NOON)
    came(study, BEN)
    prolific_studies.resume(prolific_study=row, by=by, now=NOON)
    assert (groups_in(local, WORKSPACE), groups_in(local, SECOND_WORKSPACE)) == ([2], [])
    came(study, EVE)
    prolific_studies.raise_places(prolific_study=row, places=4, by=by, now=NOON)
    assert (groups_in(local, WORKSPACE), groups_in(local, SECOND_WORKSPACE)) == ([3], [])
    came(study, DAN)
    prolific_studies.refresh(prolific_study=fresh(row), now=NOON)
    assert (groups_in(local, WORKSPACE), groups_in(local, SECOND_WORKSPACE)) == ([4], [])


def test_a_draft_moves_to_the_workspace_that_pays_now(
    local: Local, study: Study, by: User, second: Callable[[], None]
) -> None:
    row = drafted(study, by)
    second()
    drafted(study, by)
    assert (fresh(row).workspace_id, groups_in(local, SECOND_WORKSPACE)) == (SECOND_WORKSPACE, [0])
    [project] = local.client.list_projects(SECOND_WORKSPACE)
    [remote] = remote_studies(local)
    assert remote["project"] == project.id


def test_a_study_of_an_older_version_is_in_the_workspace_of_the_account(local: Local, study: Study, by: User) -> None:
    row = published(study, by)
    ProlificStudy.objects.update(workspace_id="")
    came(study, ANN)
    prolific_studies.update_people(prolific_study=fresh(row))
    assert groups_in(local, WORKSPACE) == [1]

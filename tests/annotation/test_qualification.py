"""Qualification studies whose pass is membership in a group, until it expires."""

from datetime import timedelta
from typing import Any

import pytest

from annotation.actions.answering.responses import open_slots, order_for
from annotation.actions.arriving.groups import set_group
from annotation.actions.launching.launch import launch_warnings
from annotation.actions.recruiting.prolific_people import find_people
from annotation.actions.removing.removals import exclude, include, withdraw
from annotation.errors import AnnotationError
from annotation.models import GroupMember, Session
from results.queries.people.groups import group_lines, undeclared_groups
from results.queries.studies.events import SENTENCES
from studies.actions.events import What
from studies.design.model import Qualification
from studies.models import Event, Project, Question, Study
from tests.annotation.test_eligibility import answer_right, refused, study_about
from tests.annotation.test_responses import send
from tests.factories import NOON, TESTS, arrive, arrive_at_work, make_project, redesign

pytestmark = pytest.mark.django_db
PASS: dict[str, Any] = {"group": "retrievers", "right": 3, "of": 4, "days": 30}
KEYS = ["q-1", "q-2", "q-3", "q-4"]
IN_GROUP = {"rule": "in_group", "group": "retrievers"}


@pytest.fixture
def project(time_machine: Any) -> Project:
    time_machine.move_to(NOON, tick=False)
    return make_project()


@pytest.fixture
def trial(project: Project) -> Study:
    return qualification(project, "trial")


def qualification(project: Project, slug: str, **passing: Any) -> Study:
    more = {"answers": 9, "recruitment": {"sessions_per_annotator": 0}}
    study = study_about(project, slug, [f"{slug}-{key}" for key in KEYS], **more)
    redesign(study, qualification=Qualification(**PASS | passing), purpose="qualification")
    return study


def sit(study: Study, person: str, *, right: int, session: str = "") -> Session:
    begun = arrive_at_work(study, person, session=session or f"{study.slug}-{person}")
    answer_right(begun, right=right)
    begun.refresh_from_db()
    return begun


def test_whoever_passes_is_in_the_group_until_it_expires(project: Project, trial: Study, time_machine: Any) -> None:
    main = study_about(project, "main", ["a", "b", "c"], IN_GROUP, answers=9)
    assert sit(trial, "ann", right=3).state == "finished"
    sit(trial, "ben", right=2)
    (member,) = GroupMember.objects.all()
    assert (member.group, member.source, member.expires_at) == ("retrievers", trial, NOON + timedelta(days=30))
    assert arrive(main, "ann", session="first").questions_total == 3
    with refused("in_group"):
        arrive(main, "ben")
    time_machine.move_to(NOON + timedelta(days=30), tick=False)
    other = study_about(project, "other", ["d"], IN_GROUP, answers=9)
    with refused("in_group"):
        arrive(other, "ann")


def test_a_session_that_is_not_finished_lets_nobody_in(trial: Study) -> None:
    session = arrive_at_work(trial, "ann")
    Question.objects.update(right="candidate-0")
    for slot in open_slots(session=session, limit=3):
        order = order_for(session=session, question=slot.question)
        send(session, slot, str(order.index("candidate-0") + 1))
    assert not GroupMember.objects.exists()


def test_passing_again_renews_and_failing_later_takes_nothing_away(project: Project, trial: Study) -> None:
    # All sessions of the tests finish at noon of the same day.
    sit(trial, "ann", right=4)
    sit(qualification(project, "failed", days=60), "ann", right=2)
    sit(qualification(project, "shorter", days=5), "ann", right=4)
    member = GroupMember.objects.get()
    assert (member.source, member.expires_at) == (trial, NOON + timedelta(days=30))
    longer = qualification(project, "longer", days=60)
    sit(longer, "ann", right=4)
    member.refresh_from_db()
    assert (member.source, member.expires_at) == (longer, NOON + timedelta(days=60))


def test_a_declared_member_never_expires(project: Project, trial: Study) -> None:
    set_group(project=project, group="retrievers", provider="prolific", people=["ann"], by=TESTS, now=NOON)
    sit(trial, "ann", right=4)
    member = GroupMember.objects.get()
    assert (member.source, member.expires_at) == (None, None)


def test_an_exclusion_ends_the_membership_until_the_person_is_included_again(project: Project, trial: Study) -> None:
    main = study_about(project, "main", ["a", "b"], IN_GROUP, answers=9)
    annotator = sit(trial, "ann", right=4).annotator
    exclude(annotator=annotator, project=project, reason="Copied", by=TESTS, now=NOON)
    assert not GroupMember.objects.in_force().exists()
    assert [line.people for line in group_lines(project)] == [0]
    with pytest.raises(AnnotationError):
        arrive(main, "ann")
    include(annotator=annotator, project=project, by=TESTS, now=NOON)
    (member,) = GroupMember.objects.in_force()
    assert (member.group, member.expires_at) == ("retrievers", NOON + timedelta(days=30))
    assert arrive(main, "ann", session="again").questions_total == 2
    told = Event.objects.filter(what__in=(What.ANNOTATOR_EXCLUDED, What.ANNOTATOR_LET_BACK)).order_by("pk")
    sentences = [SENTENCES[What(each.what)]("", {"annotator": "A1", **each.details}) for each in told]
    assert [sentence.rpartition(", ")[2] for sentence in sentences] == [
        "out of the group retrievers",
        "in the group retrievers",
    ]


def test_a_declared_member_stays_in_the_group_when_excluded(project: Project, trial: Study) -> None:
    annotator = sit(trial, "ann", right=4).annotator
    set_group(project=project, group="retrievers", provider=annotator.provider, people=["ann"], by=TESTS, now=NOON)
    exclude(annotator=annotator, project=project, reason="Copied", by=TESTS, now=NOON)
    assert GroupMember.objects.in_force().count() == 1


def test_a_group_declared_anew_does_not_get_back_whom_it_left_out(project: Project, trial: Study) -> None:
    annotator = sit(trial, "ann", right=4).annotator
    exclude(annotator=annotator, project=project, reason="Copied", by=TESTS, now=NOON)
    set_group(project=project, group="retrievers", provider=annotator.provider, people=["ben"], by=TESTS, now=NOON)
    include(annotator=annotator, project=project, by=TESTS, now=NOON)
    assert not GroupMember.objects.filter(annotator=annotator).exists()


def test_a_withdrawal_while_excluded_ends_the_membership_for_good(project: Project, trial: Study) -> None:
    annotator = sit(trial, "ann", right=4).annotator
    exclude(annotator=annotator, project=project, reason="Copied", by=TESTS, now=NOON)
    withdraw(annotator=annotator, project=project, by=TESTS, now=NOON)
    assert not GroupMember.objects.exists()


def test_a_withdrawal_ends_the_membership(project: Project, trial: Study) -> None:
    session = sit(trial, "ann", right=4)
    withdraw(annotator=session.annotator, project=project, by=TESTS, now=NOON)
    assert not GroupMember.objects.exists()


def test_the_people_of_prolific_lists_are_members_until_they_expire(
    project: Project, trial: Study, time_machine: Any
) -> None:
    main = study_about(project, "main", ["a"], IN_GROUP, answers=9)
    session = sit(trial, "ann", right=4)
    assert find_people(main).let_in == frozenset({session.annotator_id})
    time_machine.move_to(NOON + timedelta(days=31), tick=False)
    assert find_people(main).let_in == frozenset()


def test_the_page_of_groups_shows_the_source_and_when_memberships_end(
    project: Project, trial: Study, time_machine: Any
) -> None:
    study_about(project, "main", ["a"], IN_GROUP)
    sit(trial, "ann", right=4)
    set_group(project=project, group="testers", provider="prolific", people=["cleo"], by=TESTS, now=NOON)
    passed, declared = group_lines(project)
    ends = NOON + timedelta(days=30)
    assert (passed.name, passed.people, passed.passed, passed.first_expiry, passed.last_expiry) == (
        *("retrievers", 1, 1, ends, ends),
    )
    assert [study.slug for study in passed.sources] == ["trial"]
    assert (declared.people, declared.passed, declared.sources) == (1, 0, [])
    time_machine.move_to(ends, tick=False)
    assert [line.people for line in group_lines(project)] == [0, 1]


def test_a_study_is_not_warned_about_a_group_that_people_join_by_passing(project: Project, trial: Study) -> None:
    main = study_about(project, "main", ["a"], IN_GROUP)
    assert undeclared_groups(main) == []
    other = study_about(project, "other", ["b"], {"rule": "in_group", "group": "unknown"})
    assert undeclared_groups(other) == ["unknown"]


def test_a_pass_that_leads_nowhere_is_warned_about(project: Project, trial: Study) -> None:
    (warning,) = launch_warnings(trial)
    assert warning.startswith("People who pass join the group retrievers, and no study of the project requires it yet.")
    study_about(project, "main", ["a"], IN_GROUP)
    assert launch_warnings(trial) == []

"""What a researcher is told before a launch that would seldom be meant."""

import io

import pytest
from django.core.management import call_command

from annotation.actions.launching.launch import warnings
from studies.models import Study, StudyState
from tests.factories import create_draft, fresh, make_instance, make_person, make_project
from tests.pages import signed_in

pytestmark = pytest.mark.django_db
BLIND = (
    "Others are asked about the answers of study describe, but its rule collected-v1 sees nothing of what became of "
    "them there: in place of one that is rejected there nobody gives another. Rules that see it: described-v1."
)


def drafts(rule: str) -> tuple[Study, Study]:
    """Return the drafts of a study in which images are described by `rule`, and of one in which they are found."""
    project = make_project()
    make_instance(project, "set", candidates=10)
    images = {"images": "candidate"}
    describe = create_draft(project, instances=1, study="describe", kind="describe", ask=images, rule=rule)
    feeding = {"from": "describe"}
    find = create_draft(project, instances=1, study="find", kind="retrieve", ask=images, selection=feeding)
    return describe, find


def test_a_rule_that_sees_nothing_of_what_became_of_answers_that_others_are_asked_about_is_told_of_twice() -> None:
    describe, find = drafts("collected-v1")
    assert warnings(describe) == warnings(find) == [BLIND]
    said = io.StringIO()
    call_command("launch_study", "describe", stdout=io.StringIO(), stderr=said)
    assert BLIND in said.getvalue()
    # It stands in nobody's way.
    assert fresh(describe).state == StudyState.OPEN
    client = signed_in(make_person("ada", superuser=True))
    assert BLIND in client.get("/studies/vases/find/launch/").content.decode()
    assert BLIND not in client.get("/studies/vases/describe/").content.decode()


def test_nothing_is_told_where_the_rule_sees_it_or_nobody_asks_about_answers() -> None:
    describe, find = drafts("described-v1")
    assert warnings(describe) == warnings(find) == []
    assert warnings(create_draft(describe.project, study="alone")) == []

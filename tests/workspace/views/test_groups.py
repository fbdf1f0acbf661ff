"""The page of a project's groups: how many are in each, who asks for it, and what is done with a list."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.actions.arriving.groups import set_group
from annotation.models import Annotator, GroupMember
from studies.models import Event, Project, Study
from tests.factories import NOON, TESTS, create_draft, make_member, make_project
from tests.pages import signed_in, words_of
from tests.people import opened

pytestmark = pytest.mark.django_db
PAGE = "/projects/vases/groups/"
STUDY = "/studies/vases/best-vase/"


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def owner(project: Project) -> Client:
    return signed_in(make_member(project, "owner"))


def declare(owner: Client, people: str, *, group: str = "testers", **fields: Any) -> Any:
    return owner.post(PAGE, {"group": group, "provider": "prolific", "people": people, **fields})


def members() -> set[str]:
    return set(opened(GroupMember.objects.values_list("annotator__sealed_id", flat=True)))


def asking(project: Project) -> Study:
    return create_draft(project, instances=1, eligibility=[{"rule": "in_group", "group": "first readers"}])


def test_a_list_is_declared_and_counted_and_its_people_are_not_shown(owner: Client) -> None:
    shown = owner.get(declare(owner, "\nPid-Of-Ann.\n\npid-of-ben\npid-of-ann")["Location"]).content.decode()
    assert members() == {"pid-of-ann", "pid-of-ben"}
    assert "The group testers now has 2 people." in shown
    assert "pid-of" not in shown.casefold()
    assert Event.objects.get().details == {"group": "testers", "people": 2}


def test_names_of_the_invited_are_those_that_their_links_have(owner: Client) -> None:
    declare(owner, "José Ñandú \n", provider="invite")
    assert Annotator.objects.get().provider_id == "name:José Ñandú"


@pytest.mark.parametrize(("people", "left"), [("cleo", {"cleo"}), ("", set[str]())])
def test_a_list_takes_the_place_of_another_once_that_is_confirmed(owner: Client, people: str, left: set[str]) -> None:
    declare(owner, "ann\nben")
    asked = declare(owner, people)
    assert asked.status_code == 409
    assert "Nothing is changed yet: “testers” has 2 people in it now, and with this" in words_of(asked)
    # A phone shows the form from its beginning, and this stands at its end.
    assert 'role="alert" tabindex="-1" autofocus>Nothing is changed yet' in asked.content.decode()
    assert f">\n{people}</textarea>" in asked.content.decode()
    assert members() == {"ann", "ben"}
    # Of another group nobody was told.
    assert declare(owner, people, instead_of="2 in readers").status_code == 409
    assert declare(owner, people, instead_of="2 in testers").status_code == 302
    assert members() == left


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            {"people": "ann\nben, cleo\n\ndora\u200b"},
            "<li>Line 2 is not an id of a person.</li><li>Line 4 is not",
        ),
        ({"people": "Anna\n" + 101 * "A", "provider": "invite"}, "Line 2 is not a name that can be invited."),
        ({"group": " "}, "The name of a group has 1 to 50 characters."),
        ({"group": 51 * "g"}, "The name of a group has 1 to 50 characters."),
        ({"provider": "elsewhere"}, "Say what the list holds"),
        ({"people": "a b\n" * 12}, "Line 10 is not an id of a person.</li><li>The same holds for 2 more.</li>"),
    ],
)
def test_what_is_refused_is_said_and_what_was_written_stays(
    owner: Client, wrong: dict[str, str], sentence: str
) -> None:
    refused = declare(owner, **{"people": "ann", **wrong})
    assert refused.status_code == 409
    assert sentence in words_of(refused)
    assert f">\n{wrong.get('people', 'ann')}</textarea>" in refused.content.decode()
    assert not GroupMember.objects.exists()


def test_a_study_says_that_nobody_is_in_its_group_and_leads_to_declaring_it(owner: Client, project: Project) -> None:
    asking(project)
    editor = signed_in(make_member(project, "editor"))
    assert f'href="{PAGE}?group=first%20readers#declare"' in owner.get(STUDY).content.decode()
    assert "An owner of the project declares it" in words_of(editor.get(STUDY))
    page = words_of(owner.get(PAGE, {"group": "first readers"}))
    assert '<td data-title="People">nobody yet</td>' in page
    assert '<td data-title="Required by"><a href="/studies/vases/best-vase/">best-vase</a></td>' in page
    assert 'name="group" value="first readers"' in page
    set_group(project=project, group="first readers", provider="prolific", people=["ann"], by=TESTS, now=NOON)
    assert "nobody is in it" not in words_of(owner.get(STUDY))
    assert '<td data-title="People">1</td>' in words_of(owner.get(PAGE))


def test_more_groups_take_no_more_queries(owner: Client, project: Project) -> None:
    asking(project)
    set_group(project=project, group="a", provider="prolific", people=["ann"], by=TESTS, now=NOON)
    counts = []
    for more in ("b", "c"):
        with CaptureQueriesContext(connection) as asked:
            owner.get(PAGE)
        counts.append(len(asked))
        create_draft(project, study=f"of-{more}", eligibility=[{"rule": "in_group", "group": more}])
        set_group(project=project, group=f"{more}s", provider="prolific", people=["ann", "ben"], by=TESTS, now=NOON)
    assert counts[0] == counts[1]

import re

import pytest
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.test import Client

from studies.models import Event, Image, Instance, Membership, Project
from tests.factories import draw_instance, make_member, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(client: Client) -> Client:
    # The list of models may have been emptied since it was last read, and the log names its rows.
    ContentType.objects.clear_cache()
    client.force_login(User.objects.create_superuser("operator"))
    return client


@pytest.mark.parametrize("model", ["project", "instance", "image", "study", "survey", "question"])
def test_every_list_opens(model: str, operator: Client) -> None:
    draw_instance(make_project("birds"), 1)
    assert operator.get(f"/admin/studies/{model}/").status_code == 200


def test_what_was_imported_can_be_looked_at_only(operator: Client) -> None:
    instance = draw_instance(make_project("birds"), 1)
    image = Image.objects.all()[0]
    for page in (f"instance/{instance.pk}", f"image/{image.pk}"):
        assert operator.get(f"/admin/studies/{page}/change/").status_code == 200
        assert operator.post(f"/admin/studies/{page}/change/", {"key": "other"}).status_code == 403
        assert operator.post(f"/admin/studies/{page}/delete/", {"post": "yes"}).status_code == 403
    assert operator.get("/admin/studies/instance/add/").status_code == 403
    assert Instance.objects.get().key == instance.key


def test_a_role_of_the_version_before_is_shown_as_what_it_is(operator: Client) -> None:
    """Where no option is selected, a browser selects the first, and saving the page would make an owner."""
    project = make_project("birds")
    make_member(project, "researcher", name="anna")
    page = operator.get(f"/admin/studies/project/{project.pk}/change/").content.decode()
    shown = re.search(r'<select name="memberships-0-role".*?</select>', page, re.DOTALL)
    assert shown
    assert re.findall(r'value="(\w+)" selected', shown[0]) == ["editor"]


def test_a_stranger_sees_nothing(client: Client) -> None:
    client.force_login(User.objects.create_user("stranger"))
    assert client.get("/admin/studies/project/").status_code == 302
    assert Project.objects.count() == 0


def test_who_changes_a_project_and_its_members_is_noted(operator: Client) -> None:
    project, person = make_project("birds"), User.objects.create_user("anna")
    address = f"/admin/studies/project/{project.pk}/change/"
    form = {"slug": "birds", "name": "Birds", "memberships-TOTAL_FORMS": "1", "memberships-INITIAL_FORMS": "0"}
    member = {"memberships-0-user": str(person.pk), "memberships-0-role": "owner"}
    operator.post(address, form | member)
    member |= {"memberships-0-id": str(Membership.objects.get().pk), "memberships-0-project": str(project.pk)}
    form["memberships-INITIAL_FORMS"] = "1"
    operator.post(address, form | member | {"memberships-0-role": "viewer"})
    gone = {"memberships-0-role": "viewer", "memberships-0-DELETE": "on"}
    operator.post(address, form | {"name": "Other birds"} | member | gone)
    assert not Membership.objects.exists()
    form = {"slug": "fish", "name": "Fish", "memberships-TOTAL_FORMS": "0", "memberships-INITIAL_FORMS": "0"}
    operator.post("/admin/studies/project/add/", form)
    assert list(Event.objects.order_by("pk").values_list("what", "by_name", "details")) == [
        ("member added", "operator", {"member": "anna", "role": "owner"}),
        ("member changed", "operator", {"member": "anna", "role": "viewer"}),
        ("project changed", "operator", {"changed": ["name"]}),
        ("member removed", "operator", {"member": "anna", "role": "viewer"}),
        ("project made", "operator", {}),
    ]

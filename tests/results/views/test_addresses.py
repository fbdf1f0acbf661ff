"""The address of a study names its project; addresses from before lead on where it is clear what they mean."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from studies.models import Membership, Study
from tests.factories import make_launched, make_person, make_project, make_study
from tests.pages import signed_in


def in_another_project(study: Study, project: str, *, slug: str = "birds-step-3", member: User | None = None) -> Study:
    """Make a study of the same name in another project; `member` belongs to that project too."""
    return make_study(make_project(project, members=[member] if member else []), slug)


def test_studies_of_one_name_have_a_page_each(client: Client, study: Study, researcher: User) -> None:
    other = in_another_project(study, "fish", member=researcher)
    Study.objects.filter(pk=other.pk).update(title="About fish")
    assert "About fish" in client.get("/studies/fish/birds-step-3/").content.decode()
    assert "About fish" not in client.get("/studies/birds/birds-step-3/").content.decode()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/studies/birds-step-3/", "/studies/birds/birds-step-3/"),
        ("/studies/birds-step-3/progress/?page=2", "/studies/birds/birds-step-3/progress/?page=2"),
        ("/studies/birds-step-3/launch/", "/studies/birds/birds-step-3/launch/"),
        (
            "/studies/birds-step-3/disagreements/?show=open&page=3",
            "/studies/birds/birds-step-3/disagreements/?show=open&page=3",
        ),
        ("/studies/birds-step-3/disagreements/1/settle/", "/studies/birds/birds-step-3/disagreements/1/settle/"),
        ("/studies/birds-step-3/preview/?step=end%20%C3%A9", "/studies/birds/birds-step-3/preview/?step=end%20%C3%A9"),
    ],
)
def test_an_address_from_before_leads_on_with_its_tail_and_query(
    client: Client, study: Study, old: str, new: str
) -> None:
    response = client.get(old)
    assert (response.status_code, response["Location"]) == (302, new)
    assert "no-store" in response["Cache-Control"]


def test_what_was_sent_to_an_address_from_before_is_sent_on(client: Client, study: Study) -> None:
    response = client.post("/studies/birds-step-3/pause/", follow=True)
    study.refresh_from_db()
    assert (response.status_code, study.state) == (200, "paused")


def test_it_leads_nowhere_where_two_that_one_may_see_could_be_meant(
    client: Client, study: Study, researcher: User
) -> None:
    in_another_project(study, "foxes")
    assert client.get("/studies/birds-step-3/")["Location"] == "/studies/birds/birds-step-3/"
    in_another_project(study, "fish", member=researcher)
    assert client.get("/studies/birds-step-3/").status_code == 404
    assert client.get("/studies/birds-step-3/progress/").status_code == 404


@pytest.mark.parametrize("tail", ["", "progress/", "launch/", "no-such-page/", "disagreements/1/settle/"])
def test_a_stranger_learns_from_no_address_whether_a_study_exists(study: Study, tail: str) -> None:
    stranger = signed_in(make_person("stranger"))
    for name in ("birds-step-3", "birds/birds-step-3", "no-such-study", "birds/no-such-study"):
        assert stranger.get(f"/studies/{name}/{tail}").status_code == 404


def test_who_has_not_signed_in_is_asked_to_before_an_address_leads_on(study: Study) -> None:
    for name in ("birds-step-3", "no-such-study"):
        assert Client().get(f"/studies/{name}/")["Location"] == f"/sign-in/?next=/studies/{name}/"


def test_a_study_named_like_a_page_has_its_address_before_the_page_of_another(
    client: Client, researcher: User, study: Study
) -> None:
    """/studies/x/progress/ was the progress of the study x, and is the study progress of the project x."""
    in_another_project(study, "fish", slug="x", member=researcher)
    assert client.get("/studies/x/progress/")["Location"] == "/studies/fish/x/progress/"
    make_launched(in_another_project(study, "x", slug="progress"))
    assert client.get("/studies/x/progress/")["Location"] == "/studies/fish/x/progress/"
    Membership.objects.create(project=make_project("x"), user=researcher)
    response = client.get("/studies/x/progress/")
    assert (response.status_code, response.context["study"].project.slug) == (200, "x")


@pytest.mark.parametrize("tail", ["no-such-page/", "birds-step-3/no-such-page/", "a/b/c/", "%00/", "%2F/"])
def test_an_address_of_no_page_leads_nowhere(client: Client, researcher: User, study: Study, tail: str) -> None:
    """Also where the project, the study and the address are all called the same."""
    in_another_project(study, "same", slug="same", member=researcher)
    assert client.get(f"/studies/birds-step-3/{tail}").status_code == 404
    assert client.get(f"/studies/same/same/same/{tail}").status_code == 404
    assert client.get(f"/studies/{tail}").status_code == 404


def test_an_address_without_its_last_slash_gets_it(client: Client, study: Study) -> None:
    assert client.get("/studies/birds/birds-step-3").headers["Location"] == "/studies/birds/birds-step-3/"
    page = client.get("/studies/birds-step-3", follow=True)
    assert page.redirect_chain[-1] == ("/studies/birds/birds-step-3/", 302)

from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from studies.models import InstanceImage, Study
from tests.factories import answer, launch, make_instance, make_project, make_study, questions, sit_down
from tests.results.pipelines import STEP_3, by_key, open_study, project_of, sit_through


def test_the_home_page_lists_ones_own_projects(client: Client, study: Study) -> None:
    answer(sit_down(study, "one"), questions(study)[0], "none")
    make_project("somebody-elses")
    page = client.get("/").content.decode()
    assert 'href="/projects/birds/"' in page
    assert "1 open" in page
    assert "somebody-elses" not in page


def test_the_project_page_shows_studies_instances_and_commands(client: Client, study: Study) -> None:
    InstanceImage.objects.filter(role="candidate", position=0).update(image=None)
    answer(sit_down(study, "one"), questions(study)[0], "none")
    page = " ".join(client.get("/projects/birds/").content.decode().split())
    assert "1 of 4 answers, 25 %" in page
    assert "4 instances wait for 4 images." in page
    assert "python manage.py import_instances birds FILE --format bivlc-manifest --images DIR" in page
    assert "python manage.py create_study FILE.yaml --project birds" in page


def test_an_empty_project_says_so(client: Client, study: Study) -> None:
    project = study.project
    Study.objects.filter(pk=study.pk).update(project=make_project("other"))
    project.instances.update(project=make_project("third"))
    page = client.get("/projects/birds/").content.decode()
    assert "There is no study yet." in page
    assert "Nothing has been imported yet." in page
    assert "Nothing has been exported yet." in page


def test_more_projects_studies_and_instances_add_no_query(
    client: Client, study: Study, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(10, 14):
        make_instance(study.project, number)
        launch(make_study(study.project, f"study-{number}"))
        make_project(f"project-{number}", members=list(study.project.members.all()))
    # Session and user; then one query of the home page, and the project with seven parts of its page.
    with django_assert_num_queries(3):
        client.get("/")
    with django_assert_num_queries(11):
        client.get("/projects/birds/")


def test_every_count_of_the_funnel_leads_to_its_instances(client: Client, researcher: User) -> None:
    study = open_study(project_of(researcher), STEP_3)
    sit_through(study, "ann", by_key(vase_0="candidate-0", vase_1="none"))
    page = client.get("/projects/vases/").content.decode()
    for state, number in (("accepted", 1), ("rejected", 1), ("undecided", 2)):
        address = f"/projects/vases/instances/?study=step-3&amp;state={state}"
        assert f'href="{address}"' in page
        assert client.get(address.replace("&amp;", "&")).context["lines"].paginator.count == number

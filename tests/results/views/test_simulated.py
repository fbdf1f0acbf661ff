"""Pages that rest on answers of a program say so; pages that rest on people's alone do not."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from annotation.models import Session
from annotation.simulation_ids import SIMULATED_STUDY, is_simulated
from studies.models import Project
from tests.factories import launch_study
from tests.people import digest_of
from tests.results.pipelines import STEP_3, STEP_4, open_study, project_of, sit_through

NOTICE = "Simulated: 1 of 2 annotators of step-3."
STUDY = "/studies/vases/step-3/"
PAGES = [
    *("/projects/vases/", "/projects/vases/instances/", "/projects/vases/instances/vase-0/"),
    *(STUDY, f"{STUDY}results/", f"{STUDY}disagreements/", f"{STUDY}annotators/", "/studies/vases/step-4/"),
]


@pytest.fixture
def project(researcher: User) -> Project:
    """Two answer step 3, which feeds a step 4 that one person answers."""
    project = project_of(researcher)
    step_3 = open_study(project, STEP_3 | {"answers": 2})
    for person in ("ann", "ben"):
        sit_through(step_3, person, "candidate-1")
    sit_through(open_study(project, STEP_4), "cleo", "original")
    return project


@pytest.mark.usefixtures("project")
def test_the_head_of_the_results_says_what_a_program_answered_and_no_card_repeats_it(client: Client) -> None:
    Session.objects.filter(annotator__id_digest=digest_of("ben")).update(provider_study_id=f"{SIMULATED_STUDY}1")
    page = client.get("/projects/vases/results/").content.decode()
    head, _, cards = page.partition("</h1>")
    assert NOTICE in head
    assert "Simulated" not in cards


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("form", ["csv", "tex"])
def test_tables_that_leave_say_in_their_name_that_a_program_answered(client: Client, form: str) -> None:
    def name_of(address: str) -> str:
        return str(client.get(f"{address}.{form}")["Content-Disposition"])

    tables = {"/projects/vases/results/funnel": "vases-funnel", f"{STUDY}results/decisions": "vases-step-3-decisions"}
    for address, name in tables.items():
        assert name_of(address) == f'attachment; filename="{name}.{form}"'
    Session.objects.filter(annotator__id_digest=digest_of("ben")).update(provider_study_id=f"{SIMULATED_STUDY}1")
    for address, name in tables.items():
        assert name_of(address) == f'attachment; filename="{name}-simulated.{form}"'


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_that_a_program_answered(client: Client, page: str) -> None:
    assert "Simulated:" not in client.get(page).content.decode()
    Session.objects.filter(annotator__id_digest=digest_of("ben")).update(provider_study_id=f"{SIMULATED_STUDY}1")
    assert NOTICE in client.get(page).content.decode()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite plans differently.")
@pytest.mark.django_db
def test_simulated_sessions_are_found_without_reading_those_of_people() -> None:
    study = launch_study()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    played = Session.objects.filter(is_simulated(), study__in=[study]).order_by().values("study")
    assert "simulated_sessions_of_a_study" in played.explain()

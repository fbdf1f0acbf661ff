import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from analytics.outcomes import Outcome
from results.queries.studies.overview import count_categories
from results.queries.studies.pipeline import funnel, studies_in_order
from studies.models import Project
from tests.results.pipelines import BASELINE, STEP_3, STEP_4, by_key, open_study, project_of, sit_through


@pytest.fixture
def project(researcher: User) -> Project:
    """Four imported; step 3 accepts three, of which step 4 keeps one, drops one, and waits for an answer to one."""
    project = project_of(researcher)
    chosen = by_key(vase_0="candidate-0", vase_1="candidate-1", vase_2="candidate-3", vase_3="none")
    sit_through(open_study(project, STEP_3), "ann", chosen)
    sit_through(open_study(project, STEP_4), "ben", by_key(vase_0="original", vase_1="both"))
    return project


def test_studies_stand_in_the_order_in_which_instances_pass_them(project: Project) -> None:
    open_study(project, STEP_3 | {"study": "another"})
    open_study(project, BASELINE)
    assert [study.slug for study in studies_in_order(project)] == ["step-3", "step-4", "baseline", "another"]
    # An instance that is asked about four times counts once.
    baseline = funnel(studies_in_order(project), count_categories(project)).steps[2]
    assert (baseline.study.slug, baseline.study.accepts, baseline.cell.left) == ("baseline", False, 1)
    assert baseline.cell.counts.others == [("none-yet", "none yet", 1, "")]


def test_the_funnel_counts_what_each_study_lets_go_on_by_type_and_subtype(project: Project) -> None:
    found = funnel(studies_in_order(project), count_categories(project))
    assert found.imported == 4
    assert [(step.study.slug, step.study.accepts) for step in found.steps] == [("step-3", True), ("step-4", True)]
    cells = [step.cell for step in found.steps]
    counted = [(cell.left, cell.counts.asked, cell.counts.of[Outcome.REJECTED], cell.percent) for cell in cells]
    assert counted == [(3, 4, 1, 75.0), (1, 3, 1, 25.0)]
    project.instances.filter(key="vase-3").update(subtype="obj")
    rows = funnel(studies_in_order(project), count_categories(project)).rows
    assert [(row.name, row.is_type, row.imported, [cell.left for cell in row.cells]) for row in rows] == [
        ("replace", True, 2, [2, 1]),
        ("swap", True, 2, [1, 0]),
        ("att", False, 1, [1, 0]),
        ("obj", False, 1, [0, 0]),
    ]


def test_a_longer_pipeline_takes_no_more_queries(
    project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    open_study(project, BASELINE)
    for number in range(3):
        # Studies; imported; questions counted by category, and by instance for the baseline.
        with django_assert_num_queries(4):
            funnel(studies_in_order(project), count_categories(project))
        open_study(project, STEP_3 | {"study": f"another-{number}"})

import pytest
from django.contrib.auth.models import User

from results.queries.studies.overview import count_categories
from results.queries.studies.pipeline import funnel, studies_in_order
from results.queries.studies.pipeline_graph import (
    GAP_X,
    GAP_Y,
    HEIGHT,
    IMPORTED_WIDTH,
    WIDTH,
    PipelineGraph,
    pipeline_graph,
)
from studies.models import Project, Study
from tests.results.pipelines import BASELINE, STEP_3, STEP_4, by_key, open_study, project_of, sit_through

DATASET = "dataset"


@pytest.fixture
def project(researcher: User) -> Project:
    """Of four imported, step 3 is asked about three and accepts two; step 4 is asked about one and accepts it."""
    project = project_of(researcher)
    project.instances.filter(key="vase-2").update(type="replace")
    chosen = by_key(vase_0="candidate-0", vase_1="candidate-1", vase_2="none")
    three = {"instances": {"type": ["replace"]}}
    sit_through(open_study(project, STEP_3 | three), "ann", chosen)
    return project


def graph(project: Project) -> PipelineGraph:
    return pipeline_graph(funnel(studies_in_order(project), count_categories(project)))


def cells(found: PipelineGraph) -> dict[str, tuple[int, int]]:
    """Return the column and row of each box; column 0 is the import's."""
    named = {box.step.study.slug: box for box in found.boxes if box.step}
    named |= {DATASET: found.dataset} if found.dataset else {}
    first, wide, high = IMPORTED_WIDTH + GAP_X, WIDTH + GAP_X, HEIGHT + GAP_Y
    return {name: ((box.x - first) // wide + 1, box.y // high) for name, box in named.items()}


def lost(found: PipelineGraph) -> dict[str, int | None]:
    return {edge.step.study.slug: edge.not_asked for edge in found.edges if edge.step}


def test_each_study_is_at_the_right_of_the_one_that_feeds_it(project: Project) -> None:
    open_study(project, STEP_4)
    open_study(project, BASELINE | {"instances": {"from": "step-4"}})
    open_study(project, STEP_3 | {"study": "another"})
    Study.objects.update(in_dataset=False)
    found = graph(project)
    assert cells(found) == {"step-3": (1, 0), "step-4": (2, 0), "baseline": (3, 0), "another": (1, 1)}
    assert (found.width, found.height) == (IMPORTED_WIDTH + 3 * (GAP_X + WIDTH), 2 * HEIGHT + GAP_Y)
    # 1366, less the rail (220), two margins (16 each) and two scroll bars (15 each).
    assert found.width <= 1084
    assert found.dataset is None


def test_the_dataset_takes_the_row_of_its_study_and_pushes_others_down(project: Project) -> None:
    open_study(project, STEP_4)
    open_study(project, BASELINE | {"instances": {"from": "step-4"}})
    Study.objects.filter(slug="step-4").update(in_dataset=True)
    Study.objects.exclude(slug="step-4").update(in_dataset=False)
    found = graph(project)
    assert cells(found) == {"step-3": (1, 0), "step-4": (2, 0), DATASET: (3, 0), "baseline": (3, 1)}
    # Of three studies, and one to the dataset.
    assert [edge.step.study.slug if edge.step else DATASET for edge in found.edges] == [
        *("step-3", "step-4", DATASET, "baseline")
    ]


def test_an_edge_says_what_was_imported_or_accepted_and_is_not_asked_about(project: Project) -> None:
    assert lost(graph(project)) == {"step-3": 1}
    sit_through(open_study(project, STEP_4), "ben", by_key(vase_0="original", vase_1="both"))
    assert lost(graph(project)) == {"step-3": 1, "step-4": 0}


def test_without_studies_there_is_only_the_import(researcher: User) -> None:
    found = graph(project_of(researcher))
    assert (found.boxes, found.edges, found.imported, found.width) == ([], [], 4, IMPORTED_WIDTH)

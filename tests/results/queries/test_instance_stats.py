"""What a study has made of each instance, against the project of tests/results/parting.py counted by hand."""

import pytest

from annotation.models import Response
from results.actions.cached_statistics import compute_now
from results.models import InstanceFigures, KeptNumbers
from results.queries.instances.instance_stats import pairs_alike
from studies.models import Project
from tests.databases import kept
from tests.factories import NOON
from tests.removing import exclude
from tests.results.parting import make_parting_project

made = kept(lambda: make_parting_project().slug)


def counted(project: Project) -> dict[tuple[str, str], InstanceFigures]:
    compute_now(page=KeptNumbers.Page.INSTANCES, project=project, now=NOON)
    rows = InstanceFigures.objects.select_related("study", "instance")
    return {(row.study.slug, row.instance.key): row for row in rows}


@pytest.mark.parametrize(
    ("votes", "alike"),
    [
        # Fleiss (1971), table 1: six psychiatrists; subjects 2, 3 and 4.
        ([{"personality": 3, "other": 3}], 0.4),
        ([{"personality": 1, "schizophrenia": 4, "other": 1}], 0.4),
        ([{"other": 6}], 1.0),
        # One pair of three, and one of one: two of four.
        ([{"A": 2, "B": 1}, {"A": 2}], 0.5),
        ([{"A": 1}], None),
        ([{"A": 1}, {"B": 1}], None),
        ([{}], None),
        ([], None),
    ],
)
def test_the_share_of_pairs_that_are_alike(votes: list[dict[str, int]], alike: float | None) -> None:
    assert pairs_alike(votes) == pytest.approx(alike)


def test_figures_are_those_counted_by_hand(project: Project) -> None:
    found = counted(project)
    agreement = {name: row.agreement for (of, name), row in found.items() if of == "people"}
    # Three alike; two of three, one pair of three; two that differ; nobody.
    third = pytest.approx(1 / 3)
    expected = [1.0, third, 1.0, third, 0.0, None, 1.0, third]
    assert agreement == {f"row-{number}": alike for number, alike in enumerate(expected, start=1)}
    assert [found["people", f"row-{number}"].answers for number in (1, 5, 6)] == [3, 2, 0]
    assert [found["people", f"row-{number}"].outcome for number in (1, 5, 6)] == ["agreed", "none yet", "none yet"]
    assert {name for name, row in found.items() if row.people_right} == {("people", f"row-{n}") for n in (1, 2, 8)}
    assert {name for name, row in found.items() if row.models_right} == {("people", "row-4"), ("again", "row-4")}
    # What is counted no more leaves the figures: ann and cleo said the same.
    assert found["people", "row-2"].answers == 3
    exclude(project, "ben")
    row = counted(project)["people", "row-2"]
    assert (row.answers, row.agreement) == (2, 1.0)


def test_the_time_is_the_median_of_what_was_in_view(project: Project) -> None:
    answers = Response.objects.filter(study__slug="people", question__instance__key="row-1").order_by("pk")
    for each, (sent, hidden) in zip(answers, [(9000, 7000), (4000, 0), (30_000, 0)], strict=True):
        Response.objects.filter(pk=each.pk).update(send_ms=sent, hidden_ms=hidden)
    Response.objects.filter(study__slug="people", question__instance__key="row-3").update(send_ms=None)
    found = counted(project)
    # 2, 4 and 30 seconds.
    assert found["people", "row-1"].seconds == 4.0
    assert found["people", "row-3"].seconds is None


def test_counting_again_deletes_figures_of_what_is_asked_no_more_and_writes_nothing_else(project: Project) -> None:
    before = {name: row.pk for name, row in counted(project).items()}
    again, row_2 = project.studies.get(slug="again"), project.instances.get(key="row-2")
    figures = {"outcome": "agreed", "answers": 1, "people_right": False, "models_right": False}
    InstanceFigures.objects.create(study=again, instance=row_2, **figures)
    KeptNumbers.objects.update(fingerprint="")
    assert {name: row.pk for name, row in counted(project).items()} == before

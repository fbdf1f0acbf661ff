import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from results.actions import cached_statistics
from results.models import Pseudonym
from results.reports.base import Report
from results.reports.build import report_of
from results.reports.facts import ProjectFacts
from studies.models import Project, Study
from tests.factories import create_draft
from tests.people import digest_of
from tests.removing import withdraw
from tests.results.pipelines import BASELINE, STEP_3, STEP_4, by_key, open_study, project_of, sit_through

QUERIES = 31
STUDY, PROJECT = "/studies/vases/step-3/results/", "/projects/vases/results/"


@pytest.fixture
def step_3(researcher: User) -> Study:
    """Two people on one survey: the same image, another image, an image and None, None and None."""
    study = open_study(project_of(researcher), STEP_3 | {"answers": 2})
    ann = by_key(vase_0="candidate-0", vase_1="candidate-0", vase_2="candidate-0", vase_3="none")
    ben = by_key(vase_0="candidate-0", vase_1="candidate-1", vase_2="none", vase_3="none")
    sit_through(study, "ann", ann)
    sit_through(study, "ben", ben)
    return study


def table(client: Client, address: str, name: str) -> list[list[str]]:
    """Return the cells of a table of the page."""
    shown = client.get(address).context["cards"]
    found = {table.name: table for each in shown for table in each.card.tables}
    return [[cell.text for cell in row] for row in found[name].cells]


@pytest.mark.usefixtures("step_3")
def test_the_results_of_a_study_are_its_own_answers(client: Client) -> None:
    # Asked; unanswered, open, complete; none yet, conflicting, accepted, rejected.
    assert table(client, STUDY, "decisions")[0] == ["all", "all", "4", "0", "0", "4", "0", "2", "1", "1"]
    assert table(client, STUDY, "rates")[0][1:7] == ["none", "all", "all", "8", "3", "37.50"]
    # Both say any image twice and None once, and differ once: 3/4 observed; ann 3/4 and ben 2/4 any image, so 1/2.
    names = [Pseudonym.objects.get(annotator__id_digest=digest_of(person)).name for person in ("ann", "ben")]
    assert table(client, STUDY, "pairs")[0][1:7] == [" and ".join(names), "1", "any image / None", "4", "75.00", "0.50"]
    annotators = client.get("/studies/vases/step-3/annotators/").content.decode()
    assert all(f">{name}</a>" in annotators for name in names)
    assert table(client, PROJECT, "pairs")[0][2] == " and ".join(names)
    assert table(client, STUDY, "times")[0][:5] == ["best_of_n", "8", "4.20", "4.20", "4.20"]
    assert sum(int(row[2]) for row in table(client, STUDY, "places")[1:]) == 5


@pytest.mark.usefixtures("step_3")
def test_no_table_has_the_name_of_a_section_for_screen_readers(client: Client) -> None:
    page = client.get(STUDY).content.decode()
    assert re.search(
        r'<div class="scroll report[^"]*" role="region" aria-label="Table: Decisions by category" tab', page
    )
    sections = re.findall(r'<section aria-labelledby="[^"]+">\s*<h2 id="[^"]+">([^<]+)</h2>', page)
    tables = re.findall(r'role="region" aria-label="([^"]+)"', page)
    assert "The dataset" in sections
    assert len({*sections, *tables}) == len(sections) + len(tables)


@pytest.mark.usefixtures("step_3")
def test_counts_of_instances_lead_to_them(client: Client) -> None:
    page = client.get(STUDY).content.decode()
    assert (
        '<td class="number"><a href="/projects/vases/instances/?study=step-3&amp;state=conflicting">2</a></td>' in page
    )
    assert " style=" not in page
    assert "<style" not in page
    # None is open, and none is no list.
    assert '<td class="number">0</td>' in page
    funnel = client.get(PROJECT).content.decode()
    assert '<a href="/projects/vases/instances/?">4</a>' in funnel
    assert '<a href="/projects/vases/instances/?study=step-3&amp;type=swap&amp;subtype=att">2</a>' in funnel


@pytest.mark.usefixtures("step_3")
def test_answers_of_somebody_who_withdrew_are_in_no_result(client: Client) -> None:
    withdraw(Project.objects.get(), "ben")
    assert table(client, STUDY, "rates")[0][4:6] == ["4", "1"]


def test_a_draft_has_no_results_yet_and_an_open_study_has_its_questions_counted(client: Client, step_3: Study) -> None:
    create_draft(step_3.project, study="later")
    page = client.get("/studies/vases/later/results/")
    assert page.context["cards"] == []
    assert "nobody has answered yet" in page.content.decode()
    open_study(step_3.project, STEP_3 | {"study": "new"})
    counted = table(client, "/studies/vases/new/results/", "decisions")[0][:7]
    assert counted == ["all", "all", "4", "4", "0", "0", "4"]


def test_the_results_of_a_project_are_those_of_the_whole_pipeline(client: Client, step_3: Study) -> None:
    step_4 = open_study(step_3.project, STEP_4)
    sit_through(step_4, "cleo", "original")
    sit_through(open_study(step_3.project, BASELINE), "dora", lambda question: question.right)
    funnel = table(client, PROJECT, "funnel")
    assert [row[0] for row in funnel if row[2] == "all"] == ["imported", "step-3", "step-4", "baseline"]
    assert table(client, PROJECT, "scores")[0][1:9] == [
        *("Humans", "all", "all", "1", "1", "100.00", "100.00", "100.00")
    ]


def test_a_report_is_made_again_only_after_a_change(
    client: Client, step_3: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[ProjectFacts] = []

    def counted(facts: ProjectFacts) -> Report:
        made.append(facts)
        return report_of(facts)

    monkeypatch.setattr(cached_statistics, "report_of", counted)
    first, second = (table(client, PROJECT, "funnel") for _ in range(2))
    assert (first, len(made)) == (second, 1)
    withdraw(step_3.project, "ben")
    assert table(client, PROJECT, "funnel") != first
    assert len(made) == 2


def test_more_answers_take_no_more_queries(
    client: Client, step_3: Study, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    # Session, user, study; sessions, annotators, paid time, questions, answers, settled, skipped, categories, details,
    # what could be answered to the first question and to all, who is simulated here and above, answers that are paid;
    # who has no pseudonym yet, and those of all;
    # the rail's studies; charts, and whether the jobs that draw them failed or wait.
    client.get(STUDY)
    with django_assert_num_queries(QUERIES):
        client.get(STUDY)
    open_study(step_3.project, STEP_3 | {"study": "again", "answers": 3})
    sit_through(Study.objects.get(slug="again"), "cleo", "none")
    client.get("/studies/vases/again/results/")
    with django_assert_num_queries(QUERIES):
        client.get("/studies/vases/again/results/")

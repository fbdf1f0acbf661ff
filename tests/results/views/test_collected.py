"""A study that accepts whatever people answer only collects, and every page says so in the same word."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.pages import words_of
from tests.results.pipelines import STEP_3, open_study, project_of, sit_through


@pytest.fixture
def pages(client: Client, researcher: User) -> dict[str, str]:
    """The pages of a project with a study that collects one answer to each of two questions, and of a filter."""
    project = project_of(researcher, instances=2)
    sit_through(open_study(project, STEP_3 | {"rule": "collected-v1"}), "ann", "candidate-0")
    sit_through(open_study(project, STEP_3 | {"study": "filter"}), "ann", "candidate-0")
    addresses = {
        "pipeline": "/projects/vases/",
        "study": "/studies/vases/step-3/",
        "results": "/studies/vases/step-3/results/",
        "filter": "/studies/vases/filter/results/",
        "instances": "/projects/vases/instances/?study=step-3&state=accepted",
        "instances of the filter": "/projects/vases/instances/?study=filter&state=accepted",
    }
    return {name: words_of(client.get(address)) for name, address in addresses.items()}


def test_a_study_that_collects_says_collected_and_a_filter_accepted(pages: dict[str, str]) -> None:
    assert 'state=accepted">2</a> collected</span>' in pages["pipeline"]
    assert 'state=accepted">2</a> accepted</span>' in pages["pipeline"]
    assert "step-3<br>collected</th>" in pages["pipeline"]
    assert "filter<br>accepted</th>" in pages["pipeline"]
    assert "<h2>Collected questions</h2>" in pages["study"]
    assert "<h2>Collected instances</h2>" in pages["study"]
    assert "Of 2 instances: 2 collected, 0 rejected, 0 conflicting, 0 undecided so far." in pages["results"]
    assert "Of 2 instances: 2 accepted, 0 rejected, 0 conflicting, 0 undecided so far." in pages["filter"]
    chosen = '<span class="chip-label">Outcome</span> <bdi>{}</bdi>'
    assert chosen.format("Collected") in pages["instances"]
    assert "<bdi>Accepted</bdi>" not in pages["instances"]
    assert chosen.format("Accepted") in pages["instances of the filter"]

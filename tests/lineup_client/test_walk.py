"""A whole benchmark by the client against a running site: what a lab's script looks like."""

from pathlib import Path

import PIL.Image
import pytest
from pytest_django.live_server_helper import LiveServer

from analytics.agreement import krippendorff_alpha
from lineup_client import Lineup
from tests.factories import make_person, make_project
from tests.lineup_client.inside import people_answer
from tests.workspace.api.asking import token_of


@pytest.mark.django_db(transaction=True)
def test_from_pictures_to_agreement(live_server: LiveServer, tmp_path: Path) -> None:
    owner = make_person("ann", superuser=True)
    make_project("vases")
    rows = []
    for number in range(4):
        names = [f"{number}-{shade}.png" for shade in range(3)]
        for shade, name in enumerate(names):
            PIL.Image.new("RGB", (8, 6), (number, shade, 0)).save(tmp_path / name)
        captions = {"caption": f"Vase {number}.", "negative_caption": f"No vase {number}."}
        reference = {"right": f"candidate-{number % 3}"}
        rows.append({"key": str(number), "captions": captions, "images": names, "reference": reference})
    with Lineup(live_server.url, token_of(owner)) as site:
        project = site.project("vases")
        assert project.instances.upload(rows, images=tmp_path) == {"records": 4, "added": 4, "already_there": 0}
        assert project.instances.upload(rows, images=tmp_path)["already_there"] == 4
        study = project.studies.create(
            {"study": "best", "title": "Which?", "contact": "Ada", "kind": "best_of_n"}
            | {"answers": 2, "rule": "majority-v1"}
        )
        study.launch()
        people_answer(count=2)
        answers = study.responses().to_pandas()
        study.close()
    labels = answers.pivot(index="key", columns="worker", values="label")
    # Everybody gave the reference's answer to each of the four, and it is not the same for all.
    assert labels.shape == (4, 2)
    assert krippendorff_alpha(labels.to_numpy().tolist()).value == 1

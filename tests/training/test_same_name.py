"""Two people start a training of one name at the same moment."""

import threading
from typing import Any

import pytest
from django.db import connection

from background.models import Job
from studies.models import Event
from tests.factories import NOON, TESTS, make_project
from tests.together import at_once
from training.actions import runs
from training.errors import CannotTrain
from training.models import TrainingRun

pytestmark = pytest.mark.django_db(transaction=True)


def test_one_of_two_trainings_of_one_name_is_refused_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project()
    if connection.vendor != "sqlite":
        # SQLite lets one transaction write at a time, so one of them waits before it begins.
        barrier, folder = threading.Barrier(2, timeout=20), runs._new_folder

        def together(*given: Any) -> str:
            barrier.wait()
            return folder(*given)

        monkeypatch.setattr(runs, "_new_folder", together)

    def start() -> str:
        wanted = runs.Wanted("small-clip", "negclip", "open_clip:ViT-B-32/openai")
        try:
            runs.request_run(project=project, wanted=wanted, by=TESTS, now=NOON)
        except CannotTrain as error:
            return str(error)
        return ""

    assert sorted(at_once(start, start)) == [
        "",
        "vases already has a training run called small-clip (preparing the examples). Choose another name.",
    ]
    assert TrainingRun.objects.count() == Job.objects.count() == 1
    assert Event.objects.filter(what="training requested").count() == 1

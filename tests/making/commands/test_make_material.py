"""The command that makes material."""

from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from background.models import Job, JobState
from making.models import Batch, Candidate, Pipeline
from studies.models import Project
from tests.factories import NOON, make_instance, make_member, make_project

pytestmark = pytest.mark.django_db
FILE = """name: swaps
start: {role: caption}
stages:
  - {name: swapped, make: 'words:swap-nouns', filters: [{filter: duplicates}]}
instances: {of: swapped, captions: {caption: start, negative_caption: swapped}}
"""
MODEL = """name: model
start: {role: caption}
stages:
  - name: replaced
    make: llm:some
    options: {template: replace-object, price: {currency: EUR, input: 3, output: 10}}
"""


@pytest.fixture
def project() -> Project:
    project = make_project("birds")
    for key, text in {"first": "A dog is on a table.", "second": "A dog is asleep."}.items():
        make_instance(project, key, candidates=0, captions={"caption": text}, original_captions={"caption": text})
    return project


def make(folder: Path, source: str = FILE, *arguments: str, **options: Any) -> str:
    file, out = folder / "swaps.yaml", StringIO()
    file.write_text(source, encoding="utf-8")
    call_command("make_material", "birds", str(file), *arguments, stdout=out, **options)
    return out.getvalue()


def test_it_makes_instances_and_says_what_became_of_every_text(tmp_path: Path, project: Project) -> None:
    told = (
        "swaps began with 2 texts.\n"
        "swapped (words:swap-nouns): 2 texts, 1 candidates made, 1 kept\n"
        "  1: The text does not have two different nouns.\n"
        "1 instance made.\n"
    )
    assert make(tmp_path) == told
    assert project.instances.get(key="first-swaps-1").captions["negative_caption"] == "A table is on a dog."
    assert make(tmp_path) == f"The pipeline swaps is already complete, so it did not run again.\n{told}"
    assert Candidate.objects.count() == 4


def test_what_a_language_model_read_and_wrote_is_told_with_its_cost(tmp_path: Path, project: Project) -> None:
    make(tmp_path, MODEL, "--in-background")
    pipeline = Pipeline.objects.get()
    Pipeline.objects.update(finished_at=timezone.now())
    written = {"prompt_tokens": 1_000, "completion_tokens": 500, "made_at": timezone.now(), "start_key": "first"}
    Candidate.objects.create(pipeline=pipeline, stage="replaced", text="A cat.", state="kept", **written)
    # 1,000 tokens of 3 euros and 500 of 10 euros a million: 0.003 + 0.005.
    assert (
        "replaced (llm:some): 0 texts, 1 candidates made, 1 kept\n"
        "  1,000 tokens read, 500 tokens written, less than 0.01 EUR\n"
    ) in make(tmp_path, MODEL)


def test_hours_of_a_device_are_told_with_their_cost(tmp_path: Path, project: Project) -> None:
    source = f"{MODEL}device: {{currency: USD, hour: 2.5}}\n"
    make(tmp_path, source, "--in-background")
    pipeline = Pipeline.objects.get()
    Pipeline.objects.update(finished_at=NOON)
    times = {"sent_at": NOON, "stored_at": NOON + timedelta(minutes=6)}
    Batch.objects.create(pipeline=pipeline, stage="replaced", number=1, parents=[], begun=1, **times)
    # A tenth of an hour.
    assert "  0.10 hours of a worker's device, 0.25 USD\n" in make(tmp_path, source)


def test_a_worker_can_do_it(tmp_path: Path, project: Project) -> None:
    assert make(tmp_path, FILE, "--in-background") == "The pipeline swaps is waiting for a worker.\n"
    assert Job.objects.get().state == JobState.WAITING
    assert not Candidate.objects.exists()


def test_why_a_worker_stopped_is_told_before_the_pipeline_continues(tmp_path: Path, project: Project) -> None:
    make(tmp_path, MODEL, "--in-background")
    Pipeline.objects.update(error="The server is away.")
    assert make(tmp_path, MODEL, "--in-background") == (
        "The pipeline model had stopped: The server is away.\nThe pipeline model is waiting for a worker.\n"
    )
    assert make(tmp_path, MODEL, "--in-background") == "The pipeline model is waiting for a worker.\n"


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("name: swaps\n", "`start` is missing in the pipeline file.\n`stages` is missing in the pipeline file."),
        (
            FILE.replace("{role: caption}", "{role: title}"),
            "No instance of the project has a caption in the role title",
        ),
    ],
)
def test_what_is_wrong_is_told(source: str, sentence: str, tmp_path: Path, project: Project) -> None:
    with pytest.raises(CommandError) as refused:
        make(tmp_path, source)
    assert sentence in str(refused.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, project: Project) -> None:
    with pytest.raises(CommandError, match=r"none\.yaml cannot be read \(No such file or directory\)"):
        call_command("make_material", "birds", str(tmp_path / "none.yaml"))
    (tmp_path / "latin.yaml").write_bytes(b"name: caf\xe9")
    with pytest.raises(CommandError, match=r"latin\.yaml is not UTF-8 text"):
        call_command("make_material", "birds", str(tmp_path / "latin.yaml"))


def test_who_may_not_import_may_not_make(tmp_path: Path, project: Project) -> None:
    make_member(project, "viewer", name="victor")
    with pytest.raises(CommandError, match="victor is a viewer"):
        make(tmp_path, by="victor")

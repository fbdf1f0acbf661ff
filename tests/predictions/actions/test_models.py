"""Renaming a model of a project, and deleting it with what it predicted."""

import pytest

from predictions.actions.models import PredictionCounts, count_predictions, delete_model, rename_model
from predictions.actions.runs import cancel_run, request_run, resume_run
from predictions.actions.store_scores import plan
from predictions.errors import CannotPredict
from predictions.models import Model, Prediction, Run
from results.queries.studies.events import event_lines
from studies.models import Instance, Project
from tests.factories import NOON, TESTS, make_model, make_prediction, make_project
from tests.predictions.result_files import add_instance

pytestmark = pytest.mark.django_db
SPEC = "open_clip:ViT-B-32/openai"


@pytest.fixture
def project() -> Project:
    return make_project("birds")


def predict(model: Model, instance: Instance, *variants: str) -> None:
    for variant in variants:
        make_prediction(model, instance, variant=variant)


def rename(model: Model, name: str, version: str = "") -> Model:
    assert model.project is not None
    return rename_model(project=model.project, model=model, name=name, version=version, by=TESTS, now=NOON)


def loaded(project: Project, **identity: str) -> Run:
    run = request_run(project=project, spec=SPEC, kind="image_to_text", by=TESTS, now=NOON)
    plan(run_id=run.pk, answer={"identity": identity, "pictures_per_second": 1}, now=NOON)
    run.refresh_from_db()
    return run


def told(project: Project) -> list[str]:
    return [line.what for line in event_lines(project, 1).object_list]


def test_a_renamed_model_keeps_its_weights_and_its_predictions(project: Project) -> None:
    model = make_model(project, "ViT-B-32", version="1", weights="ab" * 32)
    predict(model, add_instance(project, 1), "image")
    for _ in range(2):
        renamed = rename(model, " CLIP ", "2")
        assert (renamed.name, renamed.version, renamed.weights) == ("CLIP", "2", "ab" * 32)
    assert Prediction.objects.get().model == renamed
    # The same name again is no event.
    assert told(project) == ["renamed the model ViT-B-32 1 (abababababab) to CLIP 2 (abababababab)"]


def test_a_worker_finds_a_model_by_what_it_calls_it_whatever_people_do(project: Project) -> None:
    """Renamed twice; in another project of the same name, it is another."""
    names = {"name": "ViT-B-32", "version": "openai", "weights": "w"}
    model = loaded(project, **names).model
    assert model is not None
    rename(rename(model, "CLIP"), "CLIP, small", "1")
    Run.objects.all().delete()
    assert loaded(project, **names).model == model
    assert Model.objects.get().identity == names
    assert loaded(make_project("fish"), **names).model != model


def test_no_two_models_of_a_project_are_called_the_same_and_none_has_no_name(project: Project) -> None:
    model = make_model(project, "CLIP", weights="w")
    make_model(project, "SigLIP", weights="w")
    make_model(project, "SigLIP", version="2", weights="other")
    make_model(make_project("fish"), "SigLIP", version="3", weights="w")
    with pytest.raises(CannotPredict, match=r"another model of this name, version and weights: SigLIP \(w\)"):
        rename(model, "SigLIP")
    with pytest.raises(CannotPredict, match="has no name"):
        rename(model, " ")
    assert rename(model, "SigLIP", "2").version == "2"
    assert rename(model, "SigLIP", "3").version == "3"


def test_a_deleted_model_takes_its_predictions_and_nobody_elses(project: Project) -> None:
    """Two instances, three predictions; another model here and the same elsewhere keep theirs."""
    model, other, elsewhere = make_model(project), make_model(project, "SigLIP"), make_model(make_project("fish"))
    first, second = add_instance(project, 1), add_instance(project, 2)
    predict(model, first, "image", "negative_image")
    predict(model, second, "image")
    predict(other, first, "image")
    predict(elsewhere, add_instance(make_project("fish"), 1), "image")
    assert count_predictions(model) == PredictionCounts(predictions=3, instances=2)
    went = delete_model(project=project, model=model, by=TESTS, now=NOON)
    assert str(went) == "3 predictions about 2 instances"
    assert set(Prediction.objects.values_list("model", flat=True)) == {other.pk, elsewhere.pk}
    assert set(Model.objects.all()) == {other, elsewhere}
    assert told(project) == ["deleted the model CLIP and its 3 predictions"]
    with pytest.raises(CannotPredict, match="somebody has deleted it"):
        delete_model(project=project, model=model, by=TESTS, now=NOON)


def test_a_model_that_is_being_asked_stays_until_that_is_over(project: Project) -> None:
    add_instance(project, 1)
    run = loaded(project, name="plain", version="1", weights="w")
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING, finished_at=None)
    assert run.model is not None
    with pytest.raises(CannotPredict, match=r"The model is running now \(image_to_text\)"):
        delete_model(project=project, model=run.model, by=TESTS, now=NOON)
    cancel_run(run=run, by=TESTS, now=NOON)
    delete_model(project=project, model=run.model, by=TESTS, now=NOON)
    assert Run.objects.filter(pk=run.pk, model=None, state=Run.State.CANCELLED).exists()


def test_a_run_that_goes_on_after_the_model_was_deleted_counts_what_is_there(project: Project) -> None:
    run = loaded(project, name="plain", version="1", weights="w")
    Run.objects.filter(pk=run.pk).update(stored=7, total=7, state=Run.State.CANCELLED, finished_at=NOON)
    assert run.model is not None
    delete_model(project=project, model=run.model, by=TESTS, now=NOON)
    run.refresh_from_db()
    resume_run(run=run, by=TESTS, now=NOON)
    plan(
        run_id=run.pk,
        answer={"identity": {"name": "plain", "version": "1", "weights": "w"}, "pictures_per_second": 1},
        now=NOON,
    )
    run.refresh_from_db()
    assert (run.stored, run.total, run.model) == (0, 0, Model.objects.get())

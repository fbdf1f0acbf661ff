from typing import Any

import pytest
from django.db import IntegrityError, transaction

from predictions.models import Evaluation, InstanceOutcomes, Model, Prediction
from studies.models import Instance, Project
from tests.factories import make_model, make_prediction, make_project
from tests.predictions.result_files import add_instance

pytestmark = pytest.mark.django_db
I2T, T2I = "image_to_text", "text_to_image"


@pytest.fixture
def project() -> Project:
    return make_project("birds")


@pytest.fixture
def model(project: Project) -> Model:
    return make_model(project)


def predict(model: Model, instance: Instance, kind: str, variant: str, is_right: bool | None, **fields: Any) -> None:
    make_prediction(model, instance, kind, variant, is_right=is_right, **{"caption_rule": "bivlc-release-v1"} | fields)


def test_outcomes_are_one_row_per_instance_and_none_where_it_was_not_asked(project: Project, model: Model) -> None:
    first, second = add_instance(project, 1), add_instance(project, 2, type="add", subtype="obj")
    add_instance(project, 3)
    predict(model, second, I2T, "image", True)
    predict(model, first, I2T, "negative_image", True, caption_rule="as-is-v1")
    predict(model, second, "best_of_n", "", None, scores={"candidate-0": 1.0, "candidate-1": 2.0})
    for variant, is_right in (("caption", False), ("negative_caption", True)):
        predict(model, first, T2I, variant, is_right)
    for variant, is_right in (("image", True), ("negative_image", False)):
        predict(model, first, I2T, variant, is_right)
    assert list(Prediction.objects.about(project).outcomes(model=model, caption_rule="bivlc-release-v1")) == [
        InstanceOutcomes(first.pk, "1", "replace", "rel", ipos2t=True, ineg2t=False, tpos2i=False, tneg2i=True),
        InstanceOutcomes(second.pk, "2", "add", "obj", ipos2t=True, ineg2t=None, tpos2i=None, tneg2i=None),
    ]


def test_evaluations_are_told_apart_by_model_and_by_rule(project: Project, model: Model) -> None:
    first, second = add_instance(project, 1), add_instance(project, 2)
    blip = make_model(project, "BLIP")
    predict(model, first, I2T, "image", True)
    predict(model, first, I2T, "negative_image", True)
    predict(model, second, I2T, "image", True)
    predict(model, second, I2T, "image", True, caption_rule="as-is-v1")
    predict(blip, first, I2T, "image", True)
    fish = make_project("fish")
    predict(make_model(fish, "BLIP"), add_instance(fish, 1), I2T, "image", True)
    assert Prediction.objects.about(project).evaluations() == [
        Evaluation(blip, "bivlc-release-v1", 1),
        Evaluation(model, "as-is-v1", 1),
        Evaluation(model, "bivlc-release-v1", 2),
    ]


def test_another_project_or_model_is_not_mixed_in(project: Project, model: Model) -> None:
    other_project = make_project("fish")
    other_model = make_model(other_project)
    predict(other_model, add_instance(other_project, 1), I2T, "image", True)
    assert list(Prediction.objects.about(project).outcomes(model=model, caption_rule="bivlc-release-v1")) == []
    assert list(Model.objects.with_predictions(project)) == []
    assert list(Model.objects.with_predictions(other_project)) == [other_model]


def test_the_database_keeps_one_prediction_that_says_something_per_model_and_question(
    project: Project, model: Model
) -> None:
    instance = add_instance(project, 1)
    predict(model, instance, I2T, "image", True)
    for variant, is_right in (("image", False), ("negative_image", None)):
        with pytest.raises(IntegrityError), transaction.atomic():
            predict(model, instance, I2T, variant, is_right)
    with pytest.raises(IntegrityError), transaction.atomic():
        make_model(project)

"""A model's answer is never compared over other pictures than people saw."""

from typing import Any

import pytest

from predictions.models import Model, Prediction
from predictions.queries.contents import mismatched_instances, stale_predictions
from results.queries.reports.report_rows import model_facts
from studies.kinds import content_hash, get_kind
from studies.models import Instance, InstanceImage, Project, Question, Study
from tests.factories import NOON, draw_image, draw_instance, make_launched, make_prediction, make_project, make_study

pytestmark = pytest.mark.django_db
I2T, T2I = "image_to_text", "text_to_image"
OLD, NEW = "0" * 64, "1" * 64


@pytest.fixture
def project() -> Project:
    return make_project("birds")


@pytest.fixture
def instance(project: Project) -> Instance:
    """An instance with two pictures, one for each of its captions."""
    instance = draw_instance(project, 1, candidates=2)
    InstanceImage.objects.create(instance=instance, role="negative_image", filename="n.png", image=draw_image(90))
    return instance


def shown(instance: Instance, caption: str = "A bird on 1 roofs.") -> str:
    """Return the hash of which of its pictures a caption belongs to."""
    roles = dict(instance.images.exclude(role="candidate").values_list("role", "image"))
    options = [{"key": role, "image": roles[role], "width": 8, "height": 6} for role in ("image", "negative_image")]
    return content_hash(get_kind(T2I), {"caption": caption, "options": options})


def predict(
    instance: Instance, content: str, *, is_right: bool, kind: str = T2I, variant: str = "caption", **fields: Any
) -> int:
    model = Model.objects.get_or_create_named(instance.project, now=NOON, name=fields.pop("model", "CLIP"))
    return make_prediction(model, instance, kind, variant, content_hash=content, is_right=is_right, **fields).pk


def ask_people(instance: Instance, image: str, name: str = "baseline", *others: str) -> Study:
    """Ask people which picture the caption belongs to, the other one being `image`, or one of `others`."""
    study: Study = make_launched(make_study(instance.project, name))
    study.questions.all().delete()
    original = instance.images.get(role="image").image_id
    shown = {"image": original, "negative_image": image}
    shown |= {f"other_image-{place}": other for place, other in enumerate(others)}
    content = {
        "caption": "A bird on 1 roofs.",
        "options": [{"key": key, "image": picture, "width": 8, "height": 6} for key, picture in shown.items()],
    }
    fields = {"kind": T2I, "variant": "caption", "right": "image", "answers_wanted": 1}
    Question.objects.create(study=study, instance=instance, content=content, **fields)
    return study


def test_what_declares_no_content_and_the_only_content_there_is_are_compared(
    project: Project, instance: Instance
) -> None:
    predict(instance, "", is_right=True)
    predict(instance, OLD, is_right=True, variant="negative_caption")
    assert stale_predictions(project) == set()


def test_of_several_contents_the_one_counts_that_the_instance_shows_today(project: Project, instance: Instance) -> None:
    of_before = predict(instance, OLD, is_right=True)
    predict(instance, shown(instance), is_right=False)
    assert stale_predictions(project) == {of_before}


def test_where_the_instance_shows_neither_none_counts(project: Project, instance: Instance) -> None:
    both = {predict(instance, OLD, is_right=True), predict(instance, NEW, is_right=False)}
    assert stale_predictions(project) == both


def test_what_people_were_asked_counts_whatever_the_instance_shows(project: Project, instance: Instance) -> None:
    """People saw picture 91; the instance has got another one since, which the model was asked about."""
    ask_people(instance, draw_image(91).sha256)
    asked = Question.objects.get()
    of_today = predict(instance, shown(instance), is_right=True)
    assert stale_predictions(project) == {of_today}
    predict(instance, content_hash(get_kind(T2I), asked.content), is_right=False)
    assert stale_predictions(project) == {of_today}


def test_the_tables_of_models_leave_out_what_is_about_other_pictures(project: Project, instance: Instance) -> None:
    ask_people(instance, draw_image(91).sha256)
    content = content_hash(get_kind(T2I), Question.objects.get().content)
    others = [(I2T, "image"), (I2T, "negative_image"), (T2I, "negative_caption")]
    for kind, variant in others:
        predict(instance, NEW, is_right=True, kind=kind, variant=variant)
    predict(instance, shown(instance), is_right=True)
    (facts,) = model_facts(project)
    # Three of the four questions: the fourth was asked about another picture.
    assert (facts.outcomes, facts.captions) == ({}, {instance.pk: True})
    predict(instance, content, is_right=False)
    (facts,) = model_facts(project)
    assert facts.outcomes == {instance.pk: (True, True, False, True)}
    assert not facts.is_declared


def test_a_model_of_a_file_that_names_no_pictures_is_declared(project: Project, instance: Instance) -> None:
    predict(instance, "", is_right=True, kind=I2T, variant="image", scores={"caption": 1, "zz": 0}, problem="zz")
    # A mismatched prediction is in no table.
    assert list(model_facts(project)) == []
    Prediction.objects.update(problem="", scores=None)
    (facts,) = model_facts(project)
    assert facts.is_declared


TWO = {"image": 1.0, "negative_image": 0.5}
THREE = {**TWO, "other_image-0": 0.2}


def test_a_declared_prediction_counts_in_the_study_whose_options_it_has(project: Project, instance: Instance) -> None:
    with_two = ask_people(instance, draw_image(91).sha256)
    with_three = ask_people(instance, draw_image(91).sha256, "three", draw_image(92).sha256)
    two = predict(instance, "", is_right=True, scores=TWO, model="two")
    three = predict(instance, "", is_right=True, scores=THREE, model="three")
    outcome = predict(instance, "", is_right=True, model="outcome")
    assert stale_predictions(project) == set()
    assert mismatched_instances(with_two) == {"three": {instance.pk}}
    assert mismatched_instances(with_three) == {"two": {instance.pk}, "outcome": {instance.pk}}
    with_two.questions.all().delete()
    assert stale_predictions(project) == {two, outcome}
    assert three not in stale_predictions(project)

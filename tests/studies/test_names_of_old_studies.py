from importlib import import_module

import pytest
from django.apps import apps

from studies.models import Study
from tests.factories import make_project, make_study

pytestmark = pytest.mark.django_db

upgrade = import_module("studies.migrations.0007_names_of_studies_end_with_their_line")


def test_an_upgrade_takes_the_line_end_off_the_names_of_studies() -> None:
    birds = make_project("birds")
    make_study(birds, "taken")
    for number, slug in enumerate(("step-3\n", "taken\n")):
        study = make_study(birds, f"study-{number}")
        Study.objects.filter(pk=study.pk).update(slug=slug, public_token=slug)
    Study.objects.filter(slug="taken").update(public_token="taken")
    upgrade.take_off(apps, None)
    names = Study.objects.order_by("pk").values_list("slug", "public_token")
    assert list(names) == [("taken", "taken"), ("step-3", "step-3"), ("taken-2", "taken-2")]

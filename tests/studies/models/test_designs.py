"""The column of designs: plain JSON in the database and in dumps, typed in Python."""

import json

import pytest
from django.core import serializers
from django.db import connection
from django.db.models import JSONField
from django.db.models.functions import Cast

from studies.design import Design, DesignRefused
from studies.models import Study
from tests.factories import make_project, make_study

pytestmark = pytest.mark.django_db


def raw() -> dict[str, object]:
    as_json = Study.objects.annotate(raw=Cast("design", JSONField()))
    found: dict[str, object] = as_json.values_list("raw", flat=True).get()
    return found


def test_a_design_is_stored_as_plain_json_and_read_as_what_it_was() -> None:
    study = make_study(make_project())
    assert raw() == study.design.to_stored()
    assert Study.objects.get().design == study.design
    assert Study.objects.values_list("design", flat=True).get() == study.design


def test_an_entry_of_it_can_be_asked_for() -> None:
    make_study(make_project(), answers=3)
    assert Study.objects.filter(design__answers=3).exists()
    assert list(Study.objects.values_list("design__answers", "design__time__limit_minutes")) == [(3, 120)]


@pytest.mark.parametrize("form", ["json", "jsonl", "xml", "python"])
def test_a_dump_holds_it_and_gives_it_back(form: str) -> None:
    study = make_study(make_project())
    dumped = serializers.serialize(form, Study.objects.all())
    Study.objects.all().delete()
    for row in serializers.deserialize(form, dumped):
        row.save()
    assert Study.objects.get().design == study.design


def test_a_whole_row_is_found_sound() -> None:
    study = make_study(make_project())
    before = study.design
    # Django puts what it found sound into the row.
    study.clean_fields()
    assert study.design == before
    assert isinstance(study.design, Design)


def test_a_design_of_a_later_version_is_refused_with_a_sentence() -> None:
    study = make_study(make_project())
    later = json.dumps(study.design.to_stored() | {"version": 6})
    with connection.cursor() as cursor:
        cursor.execute("UPDATE studies_study SET design = %s", [later])
    with pytest.raises(DesignRefused, match="of version 6; this Lineup reads versions up to 5"):
        Study.objects.get()

"""Commands about a person's answers: named by pseudonym or by a provider's id, told in numbers."""

from io import StringIO
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from annotation.models import Annotator, Decision, Removal, Response, Session, Slot
from results.actions.exports import make_export, request_export
from results.actions.pseudonyms import name_annotators
from results.models import Export, Pseudonym
from results.queries.exports.export_rows import count_rows, exported_rows
from studies.models import Event, Study
from tests.factories import NOON, answer, make_member, make_person, questions, sit_down
from tests.people import digest_of, opened

pytestmark = pytest.mark.django_db
ANN = "5f3000c0ffee5f3000c0ffee"


@pytest.fixture
def answered(study: Study) -> Study:
    """Ann answers two questions and stops, ben the other two."""
    ann = sit_down(study, ANN)
    for question in questions(study)[:2]:
        answer(ann, question, "candidate-1")
    ann.state, ann.ended_at, ann.last_seat = "given_up", NOON, ann.seat
    ann.save()
    study.seats.update(session=None, claimed_at=None)
    Slot.objects.filter(answered_at=None).update(annotator=None)
    ben = sit_down(study, "ben")
    for question in questions(study)[2:]:
        answer(ben, question, "none")
    name_annotators(project=study.project)
    return study


def name_of(person: str) -> str:
    return Pseudonym.objects.get(annotator__id_digest=digest_of(person)).name


def said(command: str, *args: str, **options: Any) -> str:
    out = StringIO()
    call_command(command, *args, stdout=out, **options)
    return out.getvalue()


@pytest.mark.parametrize("by_id", [True, False])
def test_after_withdrawing_nothing_of_theirs_is_exported(answered: Study, by_id: bool) -> None:
    assert count_rows("responses", answered) == 4
    name = name_of(ANN)
    told = said("withdraw", "birds", provider_id=ANN) if by_id else said("withdraw", "birds", name)
    assert told.startswith(f"{name} has withdrawn. 2 answers no longer count. 2 decisions changed.")
    assert ANN not in told
    assert count_rows("responses", answered) == 2
    assert {row.worker for row in exported_rows("responses", answered)} == {name_of("ben")}
    assert count_rows("instances", answered) == 0


def test_withdrawing_twice_is_once(answered: Study) -> None:
    said("withdraw", "birds", name_of(ANN))
    assert "No answers or decisions changed." in said("withdraw", "birds", name_of(ANN))
    assert Removal.objects.count() == 1


def test_files_that_hold_them_are_deleted(answered: Study) -> None:
    export = request_export(study=answered, format="responses", by=make_person("rita"), now=NOON)
    make_export(export=export, now=lambda: NOON)
    export.refresh_from_db()
    assert "Files deleted: 1." in said("withdraw", "birds", provider_id=ANN)
    assert not default_storage.exists(export.file)
    assert (Export.objects.get().file, Export.objects.get().state) == ("", "ready")


def test_excluding_and_counting_again_by_command(answered: Study) -> None:
    make_member(answered.project, "editor", name="rita")
    told = said("exclude", "birds", name_of(ANN), reason="A bot.", reopen_slots=True, by="rita")
    assert "2 answers no longer count." in told
    assert "Other people are asked for 2 answers." in told
    assert [row.counted for row in exported_rows("responses", answered)] == [False, False, True, True]
    assert "2 answers count again." in said("include", "birds", provider_id=ANN)
    assert list(Event.objects.order_by("pk").values_list("what", "by_name")) == [
        ("annotator excluded", "rita"),
        ("slots opened again", "rita"),
        ("annotator let back", "command line"),
    ]


@pytest.mark.parametrize(
    ("command", "args", "options", "sentence"),
    [
        ("withdraw", ["A-00000"], {}, "birds has no annotator called A-00000"),
        ("withdraw", [], {"provider_id": "unknown"}, "No annotator with this prolific ID"),
        ("withdraw", [], {}, "either by their PSEUDONYM or by --provider-id"),
        ("exclude", [], {"provider_id": "ben", "reason": " "}, "Say why"),
        ("include", [], {"provider_id": "ben"}, "is not excluded"),
        ("forget", [], {"provider_id": "ben"}, "Add --yes"),
    ],
)
def test_what_cannot_be_done_gets_a_sentence(
    answered: Study, command: str, args: list[str], options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(CommandError, match=sentence):
        call_command(command, "birds", *args, **options)
    assert not Removal.objects.exists()


def test_forgetting_leaves_no_row_with_that_id_and_lets_others_answer(answered: Study) -> None:
    export = request_export(study=answered, format="responses", by=make_person("rita"), now=NOON)
    make_export(export=export, now=lambda: NOON)
    ann = Annotator.objects.get(id_digest=digest_of(ANN)).pk
    told = said("forget", "birds", provider_id=ANN, yes=True)
    assert "Deleted: answers 2 (every version), sessions 1, files " in told
    assert rows_about(ann) == {}
    assert not any(ANN in str(row) for row in every_text())
    # Its rows say which answers they were; what ben said stays, and both places are free.
    assert list(opened(Response.objects.values_list("annotator__sealed_id", flat=True))) == ["ben", "ben"]
    assert Slot.objects.filter(annotator=None, answered_at=None).count() == 2
    assert sorted(Decision.objects.values_list("answers", "votes")) == [
        (0, {}),
        (0, {}),
        (1, {"none": 1}),
        (1, {"none": 1}),
    ]
    export.refresh_from_db()
    assert (export.state, export.file) == ("failed", "")


def rows_about(annotator: int) -> dict[str, int]:
    """Return how many rows of each table still point at an annotator."""
    found = {}
    for relation in Annotator._meta.related_objects:
        rows = relation.related_model._base_manager.filter(**{relation.field.name: annotator}).count()
        if rows:
            found[relation.related_model.__name__] = rows
    return found


def every_text() -> list[Any]:
    """Return every row of every table, as the database has it."""
    found: list[Any] = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608 (names of its own tables)
            found += cursor.fetchall()
    return found


def test_whoever_is_known_elsewhere_is_forgotten_in_one_project_only(answered: Study) -> None:
    from tests.factories import draw_instance, make_launched, make_project, make_study

    other = make_project("maps")
    draw_instance(other, 1)
    session = sit_down(make_launched(make_study(other, "maps-step-3")), ANN)
    answer(session, questions(session.study)[0], "none")
    name_annotators(project=other)
    said("forget", "birds", provider_id=ANN, yes=True)
    assert Annotator.objects.filter(id_digest=digest_of(ANN)).exists()
    assert list(Session.objects.filter(annotator__id_digest=digest_of(ANN)).values_list("study__slug", flat=True)) == [
        "maps-step-3"
    ]
    assert list(
        Pseudonym.objects.filter(annotator__id_digest=digest_of(ANN)).values_list("project__slug", flat=True)
    ) == ["maps"]
    assert Response.objects.counted().filter(annotator__id_digest=digest_of(ANN)).count() == 1

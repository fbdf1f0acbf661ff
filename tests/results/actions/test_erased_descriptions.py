"""A withdrawn person's descriptions are erased from questions, exports, releases and cached statistics."""

import json
import uuid
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from annotation.actions.answering import drafts, responses
from annotation.actions.answering.advance_session import advance
from annotation.actions.removing import retire_questions
from annotation.actions.removing.removals import exclude, include, withdraw
from annotation.models import Response, Session
from annotation.models.sessions import OPEN_STATES
from results.actions.cached_statistics import look_up, make
from results.actions.erasure import forget
from results.models import KeptNumbers
from studies.models import Project, Question, Study
from tests.factories import NOON, TESTS, arrive_at_work, make_person
from tests.removing import REMOVED, person
from tests.results.describing import find, two_studies, write

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("describing")]

WORDS = "A heron with one leg up"


@pytest.fixture
def find_them() -> Study:
    """Ann wrote of two images of one set; ben found the first, and cleo has both before her."""
    tell, search = two_studies("static-a", "static-b")
    write(tell, "ann", {"static-a one": f"{WORDS}, left.", "static-a five": f"{WORDS}, right."})
    find(search, "ben", {f"{WORDS}, left.": 1})
    arrive_at_work(search, "cleo")
    return search


def everything_stored() -> Iterator[tuple[str, str]]:
    """Yield every value of every table as text, with the table's name."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608 (names of its own tables)
            for row in cursor.fetchall():
                for value in row:
                    yield table, value if isinstance(value, str) else json.dumps(value, default=str)


def texts_before(session: Session) -> list[str]:
    slots = responses.open_slots(session=session, limit=9)
    return sorted((slot.question.source or {})["text"] for slot in slots)


def where_it_stands() -> set[str]:
    return {table for table, text in everything_stored() if WORDS in text}


def test_no_table_holds_it_once_they_are_forgotten(find_them: Study) -> None:
    tell = Study.objects.get(slug="tell")
    writing = arrive_at_work(tell, "ann", session="again")
    for slot in responses.open_slots(session=writing, limit=1):
        drafts.save(session=writing, slot=slot.pk, fields={"text": WORDS}, now=NOON)
    for page in (KeptNumbers.Page.STUDY_RESULTS, KeptNumbers.Page.STUDY_ANNOTATORS):
        kept = look_up(page=page, project=tell.project, study=find_them, now=NOON)
        make(kept=KeptNumbers.objects.get(pk=kept.pk), now=NOON)
    assert {"studies_question", "annotation_response"} <= where_it_stands()
    forget(annotator=person("ann"), project=find_them.project, by=TESTS, now=REMOVED)
    assert where_it_stands() == set()


def test_what_others_answered_stays_and_is_undone(find_them: Study) -> None:
    forget(annotator=person("ann"), project=find_them.project, by=TESTS, now=REMOVED)
    asked = Question.objects.filter(study=find_them)
    assert {(question.source, question.undone_at) for question in asked} == {(None, REMOVED)}
    assert Response.objects.counted_in(find_them).get().choice == "image_1"


def test_whoever_has_it_before_them_goes_on_without_it(find_them: Study) -> None:
    write(Study.objects.get(slug="tell"), "emil", {"static-b one": "By emil."})
    dora = arrive_at_work(find_them, "dora")
    assert texts_before(dora) == [f"{WORDS}, left.", f"{WORDS}, right."]
    withdraw(annotator=person("ann"), project=find_them.project, by=TESTS, now=REMOVED)
    advance(session=dora, now=REMOVED)
    dora.refresh_from_db()
    # It begins again, with what is left to find.
    assert dora.state in OPEN_STATES
    assert texts_before(arrive_at_work(find_them, "dora", session=dora.provider_session_id)) == ["By emil."]


def test_their_consent_taken_back_no_page_and_no_export_shows_it(
    find_them: Study, client: Client, tmp_path: Path
) -> None:
    client.force_login(make_person("root", superuser=True))
    project = f"/projects/{find_them.project.slug}/"
    pages = [project, f"{project}results/", f"{project}instances/", f"{project}instances/static-a/"]
    for study in ("tell", "find"):
        pages += [f"/studies/sets/{study}/{page}" for page in ("", "results/", "annotators/", "disagreements/")]
    shown = [page for page in pages if WORDS in client.get(page, follow=True).content.decode()]
    assert shown, "no page shows it even before"
    withdraw(annotator=person("ann"), project=find_them.project, by=TESTS, now=REMOVED)
    for page in pages:
        answer = client.get(page, follow=True)
        assert (answer.status_code, WORDS in answer.content.decode()) == (200, False), page
    for study in ("tell", "find"):
        for form in ("responses", "imagecode", "jsonl", "csv"):
            out = tmp_path / f"{study}-{form}"
            call_command(
                "export", "sets", study=study, format=form, out=out, stdout=StringIO(), stderr=StringIO(), verbosity=0
            )
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert files
    assert [file for file in files if WORDS.encode() in file.read_bytes()] == []


def test_nobody_is_asked_about_it_again_even_when_its_question_is_put_back(find_them: Study) -> None:
    question = Question.objects.filter(study=find_them).latest("pk")
    retire_questions.take_out(question=question, reason="odd", by=TESTS, now=NOON)
    forget(annotator=person("ann"), project=find_them.project, by=TESTS, now=REMOVED)
    retire_questions.put_back(question=question, by=TESTS, now=REMOVED)
    question.refresh_from_db()
    assert question.undone_at is not None


def test_what_somebody_wrote_who_is_only_excluded_is_kept_for_their_way_back(find_them: Study) -> None:
    project = Project.objects.get()
    exclude(annotator=person("ann"), project=project, reason="odd", by=TESTS, now=REMOVED)
    assert "studies_question" in where_it_stands()
    include(annotator=person("ann"), project=project, by=TESTS, now=REMOVED)
    assert set(Question.objects.filter(study=find_them).values_list("undone_at", flat=True)) == {None}


def test_an_answer_to_it_that_was_on_its_way_counts_and_nothing_follows_from_it(find_them: Study) -> None:
    cleo = Session.objects.get(annotator=person("cleo"))
    slot = responses.open_slots(session=cleo, limit=1)[0]
    withdraw(annotator=person("ann"), project=find_them.project, by=TESTS, now=REMOVED)
    sent = responses.Submission(slot=slot.pk, submission=uuid.uuid4(), posted={"choice": "1"})
    receipt = responses.submit(token=cleo.token, sent=sent, now=REMOVED)
    assert (receipt.stored, receipt.late) == (True, False)
    assert Response.objects.counted().get(session=cleo).question.undone_at == REMOVED

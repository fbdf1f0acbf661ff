"""Forgetting somebody whose answers are in a release: its rows are written again without them. Numbers by hand.

Ann and ben answered step 3 in pairs, both wanted; cleo step 4, dora a baseline about two of what it kept.
"""

import csv
import io
import json
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.core.management.base import CommandError
from pytest_django import DjangoCaptureOnCommitCallbacks

from annotation.models import Annotator, PanelMember, Payment, ProlificStudy, Response, Submission
from results.actions.erasure import forget
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym, Release, ReleasePseudonym
from studies.models import Event, Project
from tests.factories import NOON, member_of_panel
from tests.people import digest_of
from tests.removing import REMOVED, person, withdraw
from tests.results.actions.test_image_exports import store_pictures
from tests.results.queries.test_report_rows import make_whole_pipeline

pytestmark = pytest.mark.django_db


@pytest.fixture
def released(tmp_path: Path) -> Release:
    """Of four instances, with 6 answers of ann's, 6 of ben's, 5 of cleo's and 8 of dora's."""
    project = make_whole_pipeline()
    store_pictures()
    name_annotators(project=project)
    write(project, "v1", tmp_path / "first")
    return Release.objects.get()


def write(project: Project, name: str, folder: Path) -> Path:
    call_command("release", project.slug, study="step-4", name=name, format="jsonl", out=folder, verbosity=0)
    return folder / f"step-4-{name}"


def table(folder: Path, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((folder / "annotations" / f"{name}.csv").read_text(encoding="utf-8"))))


def test_frozen_rows_are_written_again_without_them_under_a_new_hash(released: Release, tmp_path: Path) -> None:
    ben = person("ben")
    names = {kind.objects.get(annotator=ben).name for kind in (ReleasePseudonym, Pseudonym)}
    before, file = released.sha256, released.file
    assert (released.instances, released.responses, released.dossier["splits"]) == (4, 25, {"": 4})
    forgotten = forget(annotator=person("ben"), project=released.project, by="tests", now=REMOVED)
    assert (forgotten.rows.responses, forgotten.rows.sessions, forgotten.releases) == (6, 1, ["v1"])
    released.refresh_from_db()
    assert released.sha256 != before
    assert released.file != file
    assert (released.instances, released.responses, released.dossier["splits"]) == (0, 19, {})
    folder = write(released.project, "v1", tmp_path)
    assert not [path for path in folder.rglob("*") if path.is_file() and any(n in path.read_text() for n in names)]
    assert len(table(folder, "responses")) == 19
    decisions = table(folder, "decisions")
    step_3 = [row for row in decisions if row["study"] == "best-vase"]
    # One of two answers wanted decides nothing.
    assert sorted(row["votes"] for row in step_3) == ['{"candidate-1": 1}'] * 5 + ['{"none": 1}']
    assert {(row["outcome"], row["progress"], row["answers"]) for row in step_3} == {("none yet", "open", "1")}
    assert {row["outcome"] for row in decisions if row["study"] != "best-vase"} == {"undone"}
    # What others answered further down stays.
    assert {row["votes"] for row in decisions if row["study"] == "step-4"} == {'{"original": 1}', '{"both": 1}'}
    assert "the answers of one annotator were deleted at their request" in (folder / "README.md").read_text()


def test_the_event_says_which_hash_is_which_and_names_nobody(released: Release) -> None:
    forget(annotator=person("ben"), project=released.project, by="tests", now=REMOVED)
    released.refresh_from_db()
    told = Event.objects.get(what="annotator forgotten").details
    assert told["releases"] == [{"name": "v1", "sha256": released.sha256}]
    assert not [text for text in map(json.dumps, Event.objects.values_list("details", flat=True)) if '"ben"' in text]


def test_the_old_file_of_rows_goes_once_they_are_forgotten(
    released: Release, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    file = released.file
    with django_capture_on_commit_callbacks(execute=True):
        forget(annotator=person("ben"), project=released.project, by="tests", now=REMOVED)
    assert not default_storage.exists(file)


def test_somebody_who_withdrew_before_may_be_forgotten_later(released: Release, tmp_path: Path) -> None:
    withdraw(released.project, "ben", now=NOON)
    with pytest.raises(CommandError, match="no longer available"):
        write(released.project, "v1", tmp_path)
    forget(annotator=person("ben"), project=released.project, by="tests", now=REMOVED)
    assert not Annotator.objects.filter(id_digest=digest_of("ben")).exists()
    assert len(table(write(released.project, "v1", tmp_path), "responses")) == 19


def test_nothing_is_deleted_when_the_frozen_rows_cannot_be_read(released: Release) -> None:
    default_storage.delete(released.file)
    with pytest.raises(CommandError, match="Nothing was deleted"):
        call_command("forget", "vases", provider_id="ben", yes=True)
    assert Response.objects.counted().filter(annotator=person("ben")).count() == 6


@pytest.mark.parametrize("state", [Payment.State.PLANNED, Payment.State.UNCERTAIN])
def test_nobody_is_forgotten_whose_pay_is_not_settled(state: Payment.State, released: Release) -> None:
    pay(person("ben"), state)
    with pytest.raises(CommandError, match="1 payment to this person is not settled yet"):
        call_command("forget", released.project.slug, Pseudonym.objects.get(annotator=person("ben")).name, yes=True)
    assert Response.objects.filter(annotator=person("ben")).exists()


def test_what_was_paid_stays_in_the_books_without_saying_to_whom(released: Release) -> None:
    payment = pay(person("ben"), Payment.State.PAID)
    on_prolific = ProlificStudy.objects.create(
        study=payment.study, internal_name="one", places=1, reward=1, currency="USD", created_at=NOON
    )
    submission = Submission.objects.create(
        **{"prolific_study": on_prolific, "session": payment.session, "sealed_id": "sealed", "id_digest": "d"},
        **{"status": "APPROVED", "entered_code": "ABC", "read_at": NOON},
    )
    forget(annotator=person("ben"), project=released.project, by="tests", now=REMOVED)
    payment.refresh_from_db()
    submission.refresh_from_db()
    assert (payment.amount, payment.annotator, payment.session, payment.note) == (Decimal("1.50"), None, None, "")
    assert (submission.session, submission.sealed_id, submission.entered_code) == (None, "", "")


def test_somebody_of_a_panel_is_forgotten_with_their_address(released: Release) -> None:
    member_of_panel("ann@example.org", project=released.project)
    PanelMember.objects.update(annotator=person("ben"))
    forget(annotator=person("ben"), project=released.project, by="tests", now=REMOVED)
    assert not PanelMember.objects.exists()


def pay(who: Annotator, state: Payment.State) -> Payment:
    session = who.sessions.select_related("study").latest("pk")
    return Payment.objects.create(
        **{"study": session.study, "annotator": who, "session": session, "reason": "decided", "note": "for ben"},
        **{"amount": Decimal("1.50"), "currency": "USD", "ordered_at": NOON, "state": state, "state_at": NOON},
    )

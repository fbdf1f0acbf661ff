"""Somebody withdraws in mid-study, and every page, file and decision says the same afterwards. Numbers by hand.

Six people answer two questions, six answers wanted each; a majority is four.

           ann    ben, cleo, dora    eve, finn     before                   without ann
question 1 none   candidate-0        candidate-1   3, 2, 1: conflicting     3, 2 of 6: open
question 2 c-0    candidate-0        none          4, 2: accepted           3, 2 of 6: open

None was said 3 times of 12, without ann 2 times of 10.
"""

import csv
import io
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from annotation.models import Session, SessionState
from results.actions.exports import make_export, request_export
from results.models import Export, Pseudonym
from results.queries.exports.export_rows import count_rows
from results.queries.instances.disagreements import filter_counts
from results.queries.studies.progress import study_progress
from results.tasks import discard_files
from studies.models import Membership, Question, Study
from studies.permissions import Role
from tests.factories import NOON, arrive_at_work, launch_study, make_person, make_project
from tests.pages import signed_in, words_of
from tests.people import digest_of
from tests.removing import exclude, include, person, reopen, withdraw
from tests.results.pipelines import by_key, go_on

pytestmark = pytest.mark.django_db

CHOICES = {
    "ann": ("none", "candidate-0"),
    **dict.fromkeys(("ben", "cleo", "dora"), ("candidate-0", "candidate-0")),
    **dict.fromkeys(("eve", "finn"), ("candidate-1", "none")),
}


@pytest.fixture
def rita() -> Client:
    return signed_in(make_person("rita"))


@pytest.fixture
def answered(rita: Client) -> Study:
    """The study of the table above, and ann at the first question of another one."""
    project = make_project()
    Membership.objects.create(project=project, user=make_person("olga"), role=Role.OWNER)
    Membership.objects.create(project=project, user_id=rita.session["_auth_user_id"])
    study = launch_study(project, instances=2, answers=6)
    for name, (first, second) in CHOICES.items():
        go_on(arrive_at_work(study, name), by_key(vase_0=first, vase_1=second))
    arrive_at_work(launch_study(project, study="later"), "ann", session="of the later study")
    return study


def withdraw_on_the_page(client: Client, study: Study) -> Any:
    client.get(f"/studies/vases/{study.slug}/annotators/")
    name = Pseudonym.objects.get(annotator__id_digest=digest_of("ann")).name
    return client.post(f"/projects/vases/people/{name}/withdraw/?study={study.slug}", follow=True)


def monitor(client: Client, study: Study) -> dict[str, Any]:
    progress = client.get(f"/studies/vases/{study.slug}/").context["progress"]
    (none,) = [rate for rate in progress.rates if rate.what == "None of these"]
    return {
        "answers": (progress.answers.given, progress.answers.wanted),
        "none": (none.times, none.n),
        "accepted": progress.questions.outcomes["accepted"],
        "conflicting": progress.questions.outcomes["conflicting"],
        "open": progress.questions.progress["open"],
    }


def rates(client: Client, address: str) -> list[str]:
    tables = [table for shown in client.get(address).context["cards"] for table in shown.card.tables]
    (found,) = [table for table in tables if table.name == "rates"]
    return [cell.text for cell in found.cells[0]]


def exported(study: Study, format: str, folder: Path) -> list[dict[str, str]]:
    call_command("export", "vases", format=format, study=study.slug, out=folder, verbosity=0)
    return list(csv.DictReader(io.StringIO((folder / f"{study.slug}-{format}.csv").read_text(encoding="utf-8"))))


def test_before_anybody_withdraws_everything_counts(rita: Client, answered: Study) -> None:
    assert monitor(rita, answered) == {"answers": (12, 12), "none": (3, 12), "accepted": 1, "conflicting": 1, "open": 0}


def test_after_a_withdrawal_every_page_and_file_says_the_same(rita: Client, answered: Study, tmp_path: Path) -> None:
    page = withdraw_on_the_page(rita, answered).content.decode()
    assert "2 answers no longer count." in page
    assert "1 open session ended." in page
    assert monitor(rita, answered) == {"answers": (10, 12), "none": (2, 10), "accepted": 0, "conflicting": 0, "open": 2}
    assert rates(rita, "/studies/vases/best-vase/results/")[4:6] == ["10", "2"]
    assert filter_counts(answered, {}) == {"conflicting": 0, "disagree": 2, "settled": 0}
    assert rita.get("/").context["projects"][0].project.answer_count == 10
    (line,) = [each for each in rita.get("/projects/vases/").context["studies"] if each.study == answered]
    assert (line.answers.given, line.answers.wanted) == (10, 12)
    responses = exported(answered, "responses", tmp_path)
    assert (len(responses), sum(row["label"] == "none" for row in responses)) == (10, 2)
    decisions = {row["task"]: row for row in exported(answered, "decisions", tmp_path)}
    assert json.loads(decisions["vase-0"]["votes"]) == {"candidate-0": 3, "candidate-1": 2}
    assert json.loads(decisions["vase-1"]["votes"]) == {"candidate-0": 3, "none": 2}
    assert {(row["answers"], row["outcome"]) for row in decisions.values()} == {("5", "none yet")}
    assert count_rows("instances", answered) == 0


def test_their_open_session_has_ended(rita: Client, answered: Study) -> None:
    withdraw_on_the_page(rita, answered)
    session = Session.objects.get(study__slug="later")
    assert session.state == SessionState.WITHDRAWN
    assert "withdrawn your consent" in Client().get(f"/s/{session.token}/").content.decode()


def test_a_file_made_before_is_no_longer_offered_and_says_so(rita: Client, answered: Study) -> None:
    export = request_export(study=answered, format="responses", by=make_person("asker"), now=NOON)
    make_export(export=export, now=lambda: NOON)
    withdraw_on_the_page(rita, answered)
    gone = rita.get(f"/exports/{export.pk}/download/")
    assert gone.status_code == 410
    assert "This file is no longer available" in gone.content.decode()
    for page in ("/studies/vases/best-vase/exports/", "/projects/vases/releases/", f"/exports/{export.pk}/"):
        shown = rita.get(page).content.decode()
        assert "No longer available: an annotator whose answers are in it withdrew" in shown
        assert f"/exports/{export.pk}/download/" not in shown
    again = request_export(study=answered, format="responses", by=make_person("again"), now=later_than_now())
    make_export(export=again, now=later_than_now)
    response = rita.get(f"/exports/{again.pk}/download/")
    assert response.status_code == 200
    assert len(list(csv.DictReader(io.StringIO(b"".join(response).decode())))) == 10


def later_than_now() -> datetime:
    return timezone.now() + timedelta(minutes=1)


def test_an_exclusion_marks_files_of_before_and_forbids_none(rita: Client, answered: Study) -> None:
    export = request_export(study=answered, format="responses", by=make_person("asker"), now=NOON)
    make_export(export=export, now=lambda: NOON)
    exclude(answered.project, "ann")
    assert "Created before an annotator was excluded" in rita.get("/studies/vases/best-vase/exports/").content.decode()
    response = rita.get(f"/exports/{export.pk}/download/")
    assert response.status_code == 200
    assert b"".join(response)
    include(answered.project, "ann")
    assert "As of before" not in rita.get("/studies/vases/best-vase/").content.decode()


def test_excluded_then_somebody_else_takes_the_place_and_the_answers_stay_out(rita: Client, answered: Study) -> None:
    exclude(answered.project, "ann")
    assert monitor(rita, answered)["answers"] == (10, 12)
    assert reopen(answered.project, "ann") == 2
    go_on(arrive_at_work(answered, "gil"), by_key(vase_0="candidate-0", vase_1="candidate-0"))
    # Four of six say candidate-0 to both now.
    assert monitor(rita, answered) == {"answers": (12, 12), "none": (2, 12), "accepted": 2, "conflicting": 0, "open": 0}
    followed = include(answered.project, "ann")
    assert (followed.answers, followed.without_place) == (0, 2)
    assert monitor(rita, answered)["answers"] == (12, 12)
    assert study_progress(answered).seats.filled == 6


def test_the_confirmation_says_in_numbers_what_will_follow_and_changes_nothing(rita: Client, answered: Study) -> None:
    rita.get("/studies/vases/best-vase/annotators/")
    name = Pseudonym.objects.get(annotator__id_digest=digest_of("ann")).name
    page = rita.get(f"/projects/vases/people/{name}/exclude/")
    assert list(page.context["follows"]) == [
        ("Answers excluded", 2),
        ("Decisions changed", 1),
        ("Questions of later studies undone", 0),
        ("Open sessions ended", 1),
    ]
    lead = "2 answers of this annotator in all studies of Vases no longer count. The dataset goes from 1 to 0"
    assert lead in words_of(page)
    assert page.context["accepted"] == [("best-vase", 1, 0), ("later", 0, 0)]
    assert monitor(rita, answered)["answers"] == (12, 12)
    assert not person("ann").removals.exists()
    refused = rita.post(f"/projects/vases/people/{name}/exclude/", {"reason": " "})
    assert refused.status_code == 409
    assert "Say why" in refused.content.decode()
    done = rita.post(f"/projects/vases/people/{name}/exclude/", {"reason": "Bots."}, follow=True)
    assert "Excluded" in done.content.decode()
    assert "Bots." in done.content.decode()
    assert rita.get("/projects/vases/people/A-99999/exclude/").status_code == 404


def test_an_owner_gets_from_a_providers_id_to_the_pseudonym_and_no_address_holds_it(answered: Study) -> None:
    olga = Client()
    olga.login(username="olga", password="a password of the tests")
    found = olga.post(
        "/projects/vases/people/find/", {"provider": "prolific", "provider_id": " ann ", "study": "later"}
    )
    name = Pseudonym.objects.get(annotator__id_digest=digest_of("ann")).name
    assert found["Location"] == f"/projects/vases/people/{name}/"
    assert olga.get(found["Location"]).context["line"].name == name
    unknown = olga.post(
        "/projects/vases/people/find/", {"provider": "prolific", "provider_id": "stranger"}, follow=True
    )
    assert "No annotator with this prolific ID" in unknown.content.decode()
    assert "stranger" not in unknown.content.decode()


def test_members_who_own_nothing_see_no_way_to_look_somebody_up(rita: Client, answered: Study) -> None:
    assert "Find them" not in rita.get("/studies/vases/best-vase/annotators/").content.decode()


@pytest.mark.both
def test_files_are_deleted_by_the_clock_too(answered: Study) -> None:
    export = request_export(study=answered, format="responses", by=make_person("asker"), now=NOON)
    make_export(export=export, now=lambda: NOON)
    export.refresh_from_db()
    discard_files()
    assert default_storage.exists(export.file)
    withdraw(answered.project, "ann")
    discard_files()
    discard_files()
    assert not default_storage.exists(export.file)
    assert Export.objects.get(pk=export.pk).file == ""
    assert Question.objects.filter(study=answered).count() == 2

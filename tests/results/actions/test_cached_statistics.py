"""Numbers of what has many answers: made in the background, kept with their moment, made anew after a change."""

import json
from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.actions.deciding.adjudication import settle
from annotation.actions.removing import removals
from annotation.models import Removal, Session, SessionState
from background import jobs
from background.models import Job, JobState
from predictions.actions.models import rename_model
from predictions.models import Prediction
from results.actions import cached_statistics
from results.models import KeptNumbers
from results.queries.studies.progress import progress_of, study_progress
from results.reports.base import Column, Table
from results.reports.page_tables import MOST_ROWS, cards_from_plain, page_table, plain_cards
from results.tasks import make_numbers
from studies.models import Study
from tests.factories import NOON, TESTS, answer, make_launched, make_model, questions, sit_down
from tests.jobs import run_now
from tests.removing import exclude, include, person, reopen, withdraw

Page = KeptNumbers.Page
LATER = NOON + timedelta(hours=1)
pytestmark = pytest.mark.django_db


def look(study: Study, now: Any = NOON) -> cached_statistics.CachedStatistics:
    return cached_statistics.look_up(page=Page.STUDY_PROGRESS, project=study.project, study=study, now=now)


def make(found: cached_statistics.CachedStatistics, now: Any = NOON) -> None:
    asked = Job.objects.get(key=str(found.pk), state=JobState.WAITING)
    assert run_now(asked, now=now).state == JobState.DONE


def test_the_first_look_asks_for_the_numbers_and_a_lost_message_is_sent_again_by_the_clock(study: Study) -> None:
    first, second = look(study), look(study)
    assert (first.to_send is not None, second.to_send, second.numbers) == (True, None, None)
    assert jobs.stalled_jobs(now=NOON + jobs.WAITING_AT_MOST) == []
    assert jobs.stalled_jobs(now=NOON + jobs.WAITING_AT_MOST + timedelta(seconds=1)) == [first.to_send]


def test_numbers_that_were_made_are_kept_with_their_moment(study: Study) -> None:
    answer(sit_down(study, "ann"), questions(study)[0], "none", send_ms=4000)
    make(look(study))
    found = look(study, LATER)
    assert (found.as_of, found.is_current, found.to_send) == (NOON, True, None)
    assert progress_of(found.numbers) == study_progress(study)


@pytest.mark.parametrize(
    "change",
    [
        lambda ann: answer(ann, questions(ann.study)[0], "none"),
        lambda ann: sit_down(ann.study, "ben", state=SessionState.GIVEN_UP),
    ],
    ids=["an answer", "a seat given back"],
)
def test_a_change_makes_them_old(study: Study, change: Callable[[Session], object]) -> None:
    session = sit_down(study, "ann")
    make(look(study))
    change(session)
    found = look(study, LATER)
    assert (found.is_current, found.to_send is not None) == (False, True)


def test_taking_somebody_out_letting_them_back_and_opening_their_slots_make_them_old(study: Study) -> None:
    answer(sit_down(study, "ann"), questions(study)[0], "none")
    hour = timedelta(hours=1)
    changes: list[Callable[..., object]] = [exclude, reopen, include, withdraw]
    for number, change in enumerate(changes, start=2):
        make(look(study, NOON + number * hour))
        assert look(study, NOON + number * hour).is_current
        change(study.project, "ann", now=NOON + number * hour)
        assert not look(study, NOON + number * hour).is_current, change


def test_no_page_keeps_numbers_of_before_somebody_withdrew(study: Study) -> None:
    answer(sit_down(study, "ann"), questions(study)[0], "none")
    make(look(study))
    removals.withdraw(annotator=person("ann"), project=study.project, by="tests", now=LATER)
    assert look(study, LATER).numbers is None


def test_no_page_keeps_numbers_of_before_somebody_took_their_consent_back_on_their_own_page(study: Study) -> None:
    ann = sit_down(study, "ann")
    answer(ann, questions(study)[0], "none")
    make(look(study))
    assert Client().post(f"/s/{ann.token}/take-back/").status_code == 303
    assert Removal.objects.withdrawals().count() == 1
    assert look(study, LATER).numbers is None


def test_settling_makes_them_old(draft: Study, researcher: User) -> None:
    study = make_launched(draft, seats=2)
    for name, choice in (("ann", "none"), ("ben", "candidate-0")):
        answer(sit_down(study, name), questions(study)[0], choice)
    make(look(study))
    settle(question=questions(study)[0], choice="none", by=researcher, note="", now=LATER)
    assert not look(study).is_current


@pytest.mark.parametrize("page", list(Page))
def test_predictions_make_results_old_and_nothing_else(study: Study, page: KeptNumbers.Page) -> None:
    about = None if page in {Page.PROJECT_PEOPLE, Page.PROJECT_RESULTS, Page.INSTANCES} else study
    make(cached_statistics.look_up(page=page, project=study.project, study=about, now=NOON))
    Prediction.objects.create(
        model=make_model(study.project),
        instance=study.project.instances.all()[0],
        kind="image_to_text",
        variant="image",
        caption_rule="bivlc-release-v1",
        is_right=True,
        source_file="results.csv",
        source_row=1,
        created_at=NOON,
    )
    found = cached_statistics.look_up(page=page, project=study.project, study=about, now=LATER)
    are_results = page in {Page.STUDY_RESULTS, Page.PROJECT_RESULTS, Page.INSTANCES}
    assert (found.is_current, found.to_send is not None) == (not are_results, are_results)


def test_a_model_that_is_called_otherwise_makes_results_old(study: Study) -> None:
    model = make_model(study.project)

    def results() -> cached_statistics.CachedStatistics:
        return cached_statistics.look_up(page=Page.PROJECT_RESULTS, project=study.project, now=NOON)

    make(results())
    assert results().is_current
    rename_model(project=study.project, model=model, name="SigLIP", version="", by=TESTS, now=NOON)
    assert not results().is_current


def test_they_are_made_anew_once_a_minute_at_most(study: Study) -> None:
    session = sit_down(study, "ann")
    make(look(study))
    answer(session, questions(study)[0], "none")
    assert look(study, NOON + timedelta(seconds=59)).to_send is None
    assert look(study, NOON + timedelta(seconds=60)).to_send is not None


def test_numbers_of_an_older_form_are_not_shown(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    make(look(study))
    monkeypatch.setattr(cached_statistics, "FORM", "next")
    found = look(study, LATER)
    assert (found.numbers, found.as_of, found.to_send is not None) == (None, None, True)


def test_the_job_run_twice_leaves_what_it_made_the_first_time(study: Study) -> None:
    asked = look(study).to_send
    assert asked
    run_now(asked)
    first = KeptNumbers.objects.values().get()
    run_now(asked)
    assert KeptNumbers.objects.values().get() == first
    assert Job.objects.get().state == JobState.DONE
    assert first["fingerprint"]


def test_the_message_of_the_version_before_makes_them_too(study: Study) -> None:
    make_numbers(look(study).pk)
    assert KeptNumbers.objects.get().content is not None


def test_numbers_that_cannot_be_made_say_so_and_are_tried_once_a_minute(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(study: Study) -> Any:
        raise ZeroDivisionError

    monkeypatch.setitem(cached_statistics._MAKERS, Page.STUDY_PROGRESS, broken)
    asked = look(study).to_send
    assert asked
    run_now(asked, now=NOON)
    found = look(study, NOON + timedelta(seconds=59))
    assert found.error.startswith("The server could not compute these numbers. If it happens again, tell your")
    assert found.to_send is None
    assert look(study, NOON + timedelta(seconds=60)).to_send is not None


def test_numbers_that_were_being_made_when_somebody_withdrew_are_not_kept(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(sit_down(study, "ann"), questions(study)[0], "none")

    def and_meanwhile_ann_withdraws(study: Study) -> Any:
        numbers = asdict(study_progress(study))
        removals.withdraw(annotator=person("ann"), project=study.project, by="tests", now=LATER)
        return numbers

    monkeypatch.setitem(cached_statistics._MAKERS, Page.STUDY_PROGRESS, and_meanwhile_ann_withdraws)
    asked = look(study).to_send
    assert asked
    run_now(asked, now=NOON)
    assert KeptNumbers.objects.get().content is None
    assert Job.objects.get().state == JobState.CANCELLED


@pytest.mark.parametrize("page", [Page.STUDY_RESULTS, Page.PROJECT_RESULTS])
def test_results_come_back_as_they_were(study: Study, page: KeptNumbers.Page) -> None:
    answer(sit_down(study, "ann"), questions(study)[0], "none", send_ms=4000)
    about = study if page == Page.STUDY_RESULTS else None
    make(cached_statistics.look_up(page=page, project=study.project, study=about, now=NOON))
    content = KeptNumbers.objects.get().content
    stored = content if page == Page.STUDY_RESULTS else content["cards"]
    found = cards_from_plain(stored)
    assert json.loads(json.dumps(plain_cards(found))) == stored
    assert {table.name for card in found for table in card.tables} >= {"cost"}
    assert all(card.sentence and table.headings and table.cells for card in found for table in card.tables)


def test_a_long_table_is_shown_without_its_middle() -> None:
    rows = [(number,) for number in range(MOST_ROWS + 5)]
    table = page_table(Table("pairs", "Pairs", [Column("n", "count")], rows))
    assert len(table.cells) == MOST_ROWS
    assert [table.cells[0][0].text, table.cells[-1][0].text] == ["0", "204"]
    assert table.notes == ["Showing the first 199 of 205 rows, and the last one."]

"""What a researcher sees of the reports of annotators: by question, in pseudonyms, and of nobody who withdrew."""

import pytest

from annotation.actions.answering import question_reports
from annotation.actions.removing import erasure, removals
from annotation.models import Report, Session
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from results.queries.reports.report_rows import study_outline
from results.queries.studies.question_reports import study_reports
from results.queries.studies.skips import study_skips
from tests.annotation.test_responses import next_slot
from tests.factories import NOON, TESTS, arrive_at_work, launch_study

pytestmark = pytest.mark.django_db


def say(session: Session, reason: str, words: str = "", *, instead: bool = False) -> int:
    slot = next_slot(session)
    question_reports.report(session=session, slot=slot.pk, reason=reason, words=words, instead=instead, now=NOON)
    return slot.question_id


def reported_by_three() -> tuple[list[Session], list[int]]:
    """Return three sessions of one study, and the questions each of them reported: the first is the same for two."""
    study = launch_study(instances=2, answers=3)
    sessions = [arrive_at_work(study, person) for person in ("ann", "ben", "cleo")]
    asked = [
        say(sessions[0], "broken"),
        say(sessions[1], "other", "The <b>vase</b> is missing."),
        say(sessions[2], "broken", instead=True),
    ]
    name_annotators(project=study.project)
    return sessions, asked


def test_reports_are_told_by_question_with_count_reasons_and_words() -> None:
    sessions, asked = reported_by_three()
    found = study_reports(sessions[0].study)
    assert (found.questions, found.reports) == (len(set(asked)), 3)
    by_question = {line.question: line for line in found.lines}
    names = dict(Pseudonym.objects.values_list("annotator_id", "name"))
    told = [
        (question, report.annotator, report.reason, report.words, report.instead_of_answer)
        for question, line in by_question.items()
        for report in line.reports
    ]
    assert sorted(told) == sorted(
        [
            (asked[0], names[sessions[0].annotator_id], "Something in it is broken", "", False),
            (asked[1], names[sessions[1].annotator_id], "Something else", "The <b>vase</b> is missing.", False),
            (asked[2], names[sessions[2].annotator_id], "Something in it is broken", "", True),
        ]
    )
    counts = [len(line.reports) for line in found.lines]
    assert counts == sorted(counts, reverse=True)
    # Not told a second time among what was skipped for its images.
    assert not study_skips(sessions[0].study).lines
    assert study_outline(sessions[0].study).skipped == 0


def test_what_somebody_reported_goes_with_their_consent() -> None:
    sessions, _ = reported_by_three()
    study = sessions[0].study
    removals.withdraw(annotator=sessions[1].annotator, project=study.project, by=TESTS, now=NOON)
    assert study_reports(study).reports == 2
    erasure.delete_rows(annotator=sessions[1].annotator, project=study.project)
    assert set(Report.objects.values_list("session", flat=True)) == {sessions[0].pk, sessions[2].pk}

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


def test_reports_are_told_by_question_with_count_reasons_and_words_and_go_with_their_consent() -> None:
    study = launch_study(instances=2, answers=3)
    sessions = [arrive_at_work(study, person) for person in ("ann", "ben", "cleo")]
    ann, ben, cleo = sessions
    asked = [say(ann, "broken"), say(ben, "other", "The <b>vase</b> is missing."), say(cleo, "broken", instead=True)]
    name_annotators(project=study.project)
    found = study_reports(study)
    assert (found.questions, found.reports) == (len(set(asked)), 3)
    names = dict(Pseudonym.objects.values_list("annotator_id", "name"))
    told = {
        (line.question, report.annotator, report.reason, report.words, report.instead_of_answer)
        for line in found.lines
        for report in line.reports
    }
    reported = [("Something in it is broken", "", False), ("Something else", "The <b>vase</b> is missing.", False)]
    reported.append(("Something in it is broken", "", True))
    expected = zip(asked, [names[session.annotator_id] for session in sessions], reported, strict=True)
    assert told == {(question, name, *words) for question, name, words in expected}
    counts = [len(line.reports) for line in found.lines]
    assert counts == sorted(counts, reverse=True)
    # Not told a second time among what was skipped for its images.
    assert not study_skips(study).lines
    assert study_outline(study).skipped == 0
    removals.withdraw(annotator=ben.annotator, project=study.project, by=TESTS, now=NOON)
    assert study_reports(study).reports == 2
    erasure.delete_rows(annotator=ben.annotator, project=study.project)
    assert set(Report.objects.values_list("session", flat=True)) == {ann.pk, cleo.pk}

"""Drafts can be changed, replaced, copied and deleted; what was launched stays what it is."""

from collections.abc import Callable
from functools import partial

import pytest

from annotation.actions.launching.launch import launch
from studies.actions.drafts import (
    DraftChanged,
    create_or_replace,
    delete_draft,
    duplicate_study,
    fingerprint,
    update_draft,
)
from studies.actions.studies import create_study
from studies.design import DesignRefused
from studies.errors import StudyError
from studies.models import CompletionCode, Event, Project, Question, Study, StudyState
from tests.factories import NOON, TESTS, create_draft, launch_study, make_project

pytestmark = pytest.mark.django_db

FILE = "study: best-vase\ntitle: Which one?\ncontact: Ada\nkind: best_of_n\n"


def fed(project: Project, by: str = "best-vase", *, slug: str = "step-4") -> Study:
    source = f"study: {slug}\ntitle: T\nkind: ambiguity\nask: {{original: candidate}}\ninstances: {{from: {by}}}\n"
    return create_study(project=project, source=source, by=TESTS, now=NOON)


def test_a_draft_becomes_what_another_file_says() -> None:
    draft = create_draft(answers=1)
    kept = (draft.pk, draft.invite_token, draft.public_token, draft.order_secret)
    codes = list(CompletionCode.objects.values_list("code", flat=True))
    source = FILE.replace("best-vase", "a-vase") + "answers: 3\nrule: majority-v1\npurpose: pilot\nseed: s\n"
    update_draft(study=draft, source=source, by=TESTS, now=NOON)
    stored = Study.objects.get()
    assert (stored.pk, stored.invite_token, stored.public_token, stored.order_secret) == kept
    assert list(CompletionCode.objects.values_list("code", flat=True)) == codes
    assert (stored.slug, stored.title, stored.rule, stored.purpose, stored.seed) == (
        *("a-vase", "Which one?", "majority-v1", "pilot", "s"),
    )
    assert (stored.source, stored.design.answers) == (source, 3)
    assert draft.design == stored.design
    assert Event.objects.filter(what="study changed", study_name="a-vase").exists()


def test_a_changed_draft_is_launched_as_it_was_changed() -> None:
    """Somebody's page was opened before."""
    opened = create_draft(instances=4)
    update_draft(study=Study.objects.get(), source=FILE + "instances: {keys: [vase-1]}\n", by=TESTS, now=NOON)
    launch(study=opened, by=TESTS, now=NOON)
    assert list(Question.objects.values_list("instance__key", flat=True)) == ["vase-1"]


def test_a_file_with_mistakes_changes_nothing() -> None:
    draft = create_draft()
    with pytest.raises(DesignRefused, match="Line 5: `answers` is 0"):
        update_draft(study=draft, source=FILE + "answers: 0\n", by=TESTS, now=NOON)
    assert Study.objects.get().source == draft.source


@pytest.mark.parametrize("state", [StudyState.OPEN, StudyState.PAUSED, StudyState.CLOSED])
def test_what_was_launched_is_neither_changed_nor_replaced_nor_deleted(state: StudyState) -> None:
    study = launch_study()
    Study.objects.update(state=state, closed_at=NOON if state == StudyState.CLOSED else None)
    before = Study.objects.values().get()
    with pytest.raises(StudyError, match=r"best-vase was launched, so it is no longer a draft\. Duplicate it"):
        update_draft(study=study, source=FILE, by=TESTS, now=NOON)
    with pytest.raises(StudyError, match="best-vase was launched"):
        create_or_replace(project=study.project, source=FILE, by=TESTS, now=NOON)
    with pytest.raises(StudyError, match=r"best-vase was launched.* A study with answers is kept"):
        delete_draft(study=study, by=TESTS, now=NOON)
    assert Study.objects.values().get() == before


def test_two_who_edit_at_once_do_not_undo_each_other() -> None:
    draft = create_draft()
    both_saw = fingerprint(draft.source)
    update_draft(study=draft, source=FILE, by=TESTS, now=NOON, edited_from=both_saw)
    with pytest.raises(DraftChanged):
        update_draft(study=draft, source=FILE + "answers: 9\n", by=TESTS, now=NOON, edited_from=both_saw)
    assert Study.objects.get().source == FILE


def test_a_draft_does_not_take_the_name_of_another_study() -> None:
    draft = create_draft()
    create_study(project=draft.project, source=FILE.replace("best-vase", "taken"), by=TESTS, now=NOON)
    with pytest.raises(StudyError, match="already has a study called taken"):
        update_draft(study=draft, source=FILE.replace("best-vase", "taken"), by=TESTS, now=NOON)


def test_a_draft_that_feeds_others_keeps_its_name_and_goes_on_accepting() -> None:
    draft = create_draft()
    fed(draft.project)
    with pytest.raises(StudyError, match=r"Other studies name best-vase in their `instances\.from`: step-4\."):
        update_draft(study=draft, source=FILE.replace("best-vase", "new"), by=TESTS, now=NOON)
    with pytest.raises(StudyError, match="With the purpose qualification it would not accept any"):
        update_draft(study=draft, source=FILE + "purpose: qualification\n", by=TESTS, now=NOON)
    update_draft(study=draft, source=FILE, by=TESTS, now=NOON)


def test_studies_do_not_feed_each_other_in_a_circle() -> None:
    draft = create_draft()
    fed(draft.project)
    fed(draft.project, "step-4", slug="step-5")
    with pytest.raises(StudyError, match="from itself through other studies: best-vase, step-5, step-4, best-vase"):
        update_draft(study=draft, source=FILE + "instances: {from: step-5}\n", by=TESTS, now=NOON)


def test_a_draft_can_be_fed_by_another_study_than_before() -> None:
    draft = create_draft()
    other = create_study(project=draft.project, source=FILE.replace("best-vase", "b"), by=TESTS, now=NOON)
    drawn = fed(draft.project)
    source = "study: step-4\ntitle: T\nkind: ambiguity\nask: {original: candidate}\ninstances: {from: b}\n"
    update_draft(study=drawn, source=source, by=TESTS, now=NOON)
    assert Study.objects.get(slug="step-4").fed_by == other
    source = "study: step-4\ntitle: T\nkind: ambiguity\nask: {original: candidate, generated: candidate}\n"
    update_draft(study=drawn, source=source, by=TESTS, now=NOON)
    assert Study.objects.get(slug="step-4").fed_by is None


def test_replacing_makes_a_draft_or_changes_the_one_of_that_name() -> None:
    project = make_project()
    first = create_or_replace(project=project, source=FILE, by=TESTS, now=NOON)
    second = create_or_replace(project=project, source=FILE + "answers: 3\n", by=TESTS, now=NOON)
    assert first.pk == second.pk
    assert Study.objects.get().design.answers == 3
    elsewhere = create_or_replace(project=make_project("fish"), source=FILE, by=TESTS, now=NOON)
    assert elsewhere.pk != first.pk


@pytest.mark.parametrize("state", StudyState.values)
def test_a_study_in_any_state_can_be_duplicated(state: str) -> None:
    study = launch_study(answers=3)
    times = {"closed_at": NOON if state == "closed" else None, "launched_at": None if state == "draft" else NOON}
    Study.objects.update(state=state, **times)
    study.refresh_from_db()
    copy = duplicate_study(study=study, slug="again", title="Which, again?", by=TESTS, now=NOON)
    assert (copy.state, copy.slug, copy.title, copy.design.answers) == ("draft", "again", "Which, again?", 3)
    assert copy.questions.count() == 0
    assert {copy.invite_token, copy.public_token} & {study.invite_token, study.public_token} == set()
    theirs, its = (set(one.completion_codes.values_list("code", flat=True)) for one in (study, copy))
    assert (len(its), theirs & its) == (9, set())
    event = Event.objects.get(what="study duplicated")
    assert (event.study, event.details) == (copy, {"original": "best-vase"})


@pytest.mark.parametrize("slug", ["", "B B", "a" * 51, "a\0b", "best-vase"])
def test_a_copy_under_a_name_that_cannot_be_one_or_is_taken_is_refused(slug: str) -> None:
    draft = create_draft()
    with pytest.raises((DesignRefused, StudyError), match=r"`study`|cannot be stored|already has a study called"):
        duplicate_study(study=draft, slug=slug, title="T", by=TESTS, now=NOON)
    assert Study.objects.count() == 1


def test_a_deleted_draft_leaves_nothing_but_its_events() -> None:
    draft = create_draft()
    other = create_study(project=draft.project, source=FILE.replace("best-vase", "b"), by=TESTS, now=NOON)
    delete_draft(study=draft, by=TESTS, now=NOON)
    assert list(Study.objects.all()) == [other]
    assert set(CompletionCode.objects.values_list("study", flat=True)) == {other.pk}
    told = Event.objects.filter(study_name="best-vase").values_list("what", flat=True)
    assert set(told) == {"study created", "study deleted"}
    # Its name is free again.
    create_study(project=draft.project, source=FILE, by=TESTS, now=NOON)


def test_a_draft_that_feeds_others_is_not_deleted() -> None:
    draft = create_draft()
    fed(draft.project)
    with pytest.raises(StudyError, match="Other studies take their instances from best-vase: step-4"):
        delete_draft(study=draft, by=TESTS, now=NOON)
    assert Study.objects.count() == 2


@pytest.mark.parametrize("act", [delete_draft, partial(update_draft, source=FILE), launch])
def test_what_somebody_else_has_just_deleted_is_told_so(act: Callable[..., object]) -> None:
    opened = create_draft()
    delete_draft(study=Study.objects.get(), by=TESTS, now=NOON)
    with pytest.raises(StudyError, match="Somebody else has just deleted this draft"):
        act(study=opened, by=TESTS, now=NOON)

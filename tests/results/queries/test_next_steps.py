import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client

from annotation.actions.arriving.draw_questions import UNDO
from annotation.actions.launching.complete_study import note_completed
from annotation.models import ProlificStudy, SessionFlag, Submission
from results.actions.releases import freeze_release, prepare_release
from results.exporting.dataset_card import About
from results.queries.studies.next_steps import Todo, next_steps
from results.queries.studies.overview import (
    Conflicts,
    StudyLine,
    WaitingImages,
    count_categories,
    study_lines,
    waiting_images,
)
from results.queries.studies.progress import Answers
from studies.actions.projects.datasets import set_dataset
from studies.actions.projects.projects import archive_project
from studies.actions.studies import change_state, create_study
from studies.models import Import, InstanceImage, Project, Study, StudyState, Upload
from tests.factories import CONTACT, NOON, TESTS, make_project
from tests.removing import exclude, reopen, withdraw
from tests.results.pipelines import STEP_3, STEP_4, by_key, open_study, project_of, sit_through

pytestmark = pytest.mark.django_db


Steps = list[tuple[str, str, int]]


def text_of(client: Client, address: str) -> str:
    return " ".join(BeautifulSoup(client.get(address).content, "html.parser").get_text().split())


def steps(project: Project) -> Steps:
    project.refresh_from_db()
    found = next_steps(
        project,
        lines=study_lines(project, now=NOON),
        waiting=waiting_images(project),
        instances=sum(count_categories(project).values()),
        releases=project.releases.exclude(file="").count(),
    )
    return [(step.todo.value, step.study.slug if step.study else "", step.number) for step in found]


def test_flagged_sessions_are_to_review_until_somebody_has_or_their_person_withdraws(
    client: Client, researcher: User
) -> None:
    study = open_study(project_of(researcher), STEP_3 | {"answers": 3})
    for person in ("ann", "ben"):
        session = sit_through(study, person, by_key(vase_0="candidate-0"))
        SessionFlag.objects.create(session=session, rule="hidden_tab", evidence={}, found_at=NOON)
        SessionFlag.objects.create(session=session, rule="too_odd", evidence={}, found_at=NOON)
    assert ("review flags", "step-3", 2) in steps(study.project)
    client.force_login(researcher)
    assert "2 sessions of step-3 are flagged as possibly careless." in text_of(client, "/projects/vases/")
    assert "flagged sessions to review: 2" in text_of(client, "/")
    SessionFlag.objects.filter(session=session).update(verdict="dismissed", reviewed_at=NOON)
    assert ("review flags", "step-3", 1) in steps(study.project)
    withdraw(study.project, "ann")
    assert not [todo for todo, *_ in steps(study.project) if todo == "review flags"]


def test_pictures_that_have_not_come_stand_before_the_study_that_is_not_there_yet(
    client: Client, researcher: User
) -> None:
    project = project_of(researcher, instances=2)
    InstanceImage.objects.filter(role="image").update(image=None)
    assert steps(project) == [("upload images", "", 2), ("make a study", "", 0)]
    # The page says it with its button.
    client.force_login(researcher)
    page = client.get("/projects/vases/").content.decode()
    assert "2 images</a> of an import are missing" in page
    assert 'href="/projects/vases/imports/new/">Upload images</a>' in page


def test_a_study_goes_from_its_draft_to_a_release(researcher: User) -> None:
    """Two instances, an answer each; the second person's contradicts nobody, for nobody else was asked."""
    project = project_of(researcher, instances=2)
    draft = create_study(
        project=project, source=f"study: later\ntitle: T\nkind: best_of_n\ncontact: {CONTACT}\n", by=TESTS, now=NOON
    )
    assert steps(project) == [("launch", "later", 0)]
    draft.delete()
    study = open_study(project, STEP_3)
    assert steps(project) == [("wait", "step-3", 2)]
    sit_through(study, "ann", by_key(vase_0="candidate-0", vase_1=""))
    assert steps(project) == [("wait", "step-3", 1)]
    change_state(study=study, to=StudyState.PAUSED, by=TESTS, now=NOON)
    assert steps(project) == [("resume", "step-3", 1)]
    change_state(study=Study.objects.get(), to=StudyState.CLOSED, by=TESTS, now=NOON)
    assert steps(project) == [("release", "step-3", 0)]
    release, _ = prepare_release(study=Study.objects.get(), about=About(release="v1"), by=TESTS, now=NOON)
    freeze_release(release=release, now=NOON)
    assert steps(project) == [("nothing", "", 0)]


@pytest.mark.parametrize(
    ("max_answers", "before", "after"),
    [
        (2, [("settle", "step-3", 1)], [("settle", "step-3", 1), ("close", "step-3", 0)]),
        # A third person decides, when somebody comes.
        (3, [("wait", "step-3", 0)], [("wait", "step-3", 0)]),
    ],
    ids=["no more answers", "one more answer"],
)
def test_conflicts_that_nobody_will_decide_are_settled_before_a_study_is_closed(
    max_answers: int, before: Steps, after: Steps, researcher: User
) -> None:
    """Two people choose differently about one instance and alike about the other, and all that was asked is said."""
    project = project_of(researcher, instances=2)
    study = open_study(project, {**STEP_3, "answers": 2, "max_answers": max_answers, "rule": "majority-v1"})
    sit_through(study, "ann", by_key(vase_0="candidate-0", vase_1="candidate-1"))
    sit_through(study, "ben", by_key(vase_0="candidate-0", vase_1="candidate-2"))
    assert steps(project) == before
    # As soon as the clock has looked.
    note_completed(by=TESTS, now=NOON + UNDO)
    assert steps(project) == after


@pytest.mark.parametrize(("kind", "settled"), [("best_of_n", [4]), ("describe", [])])
def test_only_questions_with_options_can_be_settled(kind: str, settled: list[int]) -> None:
    """A description is decided by those who look for its image."""
    project = make_project()
    study = create_study(project=project, source=f"study: s\ntitle: T\nkind: {kind}\n", by=TESTS, now=NOON)
    lines, conflicts = [StudyLine(study, Answers(4, 4))], Conflicts({study.pk: 4})
    found = next_steps(project, lines=lines, waiting=WaitingImages(0, 0), instances=4, releases=0, conflicts=conflicts)
    assert [step.number for step in found if step.todo is Todo.SETTLE] == settled


def test_a_study_that_is_fed_waits_for_the_one_before_it(researcher: User) -> None:
    project = project_of(researcher, instances=2)
    first = open_study(project, STEP_3)
    open_study(project, STEP_4)
    assert sorted(steps(project)) == [("wait", "step-3", 2), ("wait", "step-4", 0)]
    change_state(study=first, to=StudyState.CLOSED, by=TESTS, now=NOON)
    assert steps(project) == [("wait", "step-4", 0)]


def test_what_open_places_can_give_is_told_from_what_whoever_arrives_can_give(client: Client, researcher: User) -> None:
    """Two instances in a place each, one of them answered."""
    project = project_of(researcher, instances=2)
    size = {"surveys": {"size": 1}}
    first = open_study(project, {**STEP_3, **size, "answers": 1})
    open_study(project, STEP_4)
    sit_through(first, "ann", by_key(vase_0="candidate-0", vase_1="candidate-0"))
    client.force_login(researcher)
    # One place is left in step 3, and one accepted instance waits for whoever comes to step 4.
    assert sorted(steps(project)) == [("wait", "step-3", 1), ("wait", "step-4", 0)]
    assert "1 answer of step-3 still to come" in text_of(client, "/projects/vases/")
    assert "1 accepted item waits for step-4." in text_of(client, "/projects/vases/")
    assert "1 item of step-3 waits for this study" in text_of(client, "/studies/vases/step-4/")
    # Ann no longer counts: her place is taken, so that her answer cannot come again, and nothing waits any more.
    exclude(project, "ann")
    assert sorted(steps(project)) == [("ask others", "", 1), ("wait", "step-3", 1), ("wait", "step-4", 0)]
    assert "1 answer of annotators who were excluded or withdrew has not been replaced" in text_of(
        client, "/projects/vases/"
    )
    reopen(project, "ann")
    assert sorted(steps(project)) == [("wait", "step-3", 2), ("wait", "step-4", 0)]


def test_a_study_without_open_places_is_not_over_while_items_wait_for_it(client: Client, researcher: User) -> None:
    project = project_of(researcher, instances=2)
    first, second = open_study(project, {**STEP_3, "surveys": {"size": 1}}), open_study(project, STEP_4)
    sit_through(first, "ann", "candidate-0")
    sit_through(second, "ben", "original")
    sit_through(first, "cleo", "candidate-0")
    client.force_login(researcher)
    page = text_of(client, "/studies/vases/step-4/")
    assert "1 item of step-3 waits for this study. Its place opens when somebody arrives." in page
    assert "All answers are in" not in page


def test_conflicts_get_one_more_answer_from_whoever_arrives(client: Client, researcher: User) -> None:
    project = project_of(researcher, instances=2)
    study = open_study(project, {**STEP_3, "answers": 2, "max_answers": 3, "rule": "majority-v1"})
    sit_through(study, "ann", by_key(vase_0="candidate-0", vase_1="candidate-1"))
    sit_through(study, "ben", by_key(vase_0="candidate-0", vase_1="candidate-2"))
    client.force_login(researcher)
    assert "1 conflicting question of step-3 gets one more answer." in text_of(client, "/projects/vases/")
    assert 'href="/studies/vases/step-3/recruit/">Recruit</a>' in client.get("/projects/vases/").content.decode()


def test_the_dataset_s_study_is_the_one_to_release(researcher: User) -> None:
    project = project_of(researcher, instances=2)
    for file in (STEP_3, {**STEP_3, "study": "other"}):
        change_state(study=open_study(project, file), to=StudyState.CLOSED, by=TESTS, now=NOON)
    set_dataset(project=project, studies=[Study.objects.get(slug="step-3")], by=TESTS, now=NOON)
    assert steps(project) == [("release", "step-3", 0)]


@pytest.mark.parametrize(
    ("dry_run", "is_over", "error", "todo"),
    [
        (True, False, "", "await the import"),
        (False, False, "", "await the import"),
        (True, True, "", "import what was looked over"),
        (True, True, "Nothing was imported: 1 problem was found.", "import"),
        # It brought nothing, so there is nothing to resume.
        (False, True, "", "import"),
    ],
)
def test_an_import_that_has_brought_nothing_yet_is_gone_on_with(
    dry_run: bool, is_over: bool, error: str, todo: str, researcher: User
) -> None:
    project = project_of(researcher, instances=0)
    Import.objects.create(
        project=project,
        files=[{"path": "scenes.jsonl", "sha256": ""}],
        format="jsonl",
        upload=Upload.objects.create(project=project, made_by=researcher, made_at=NOON),
        dry_run=dry_run,
        error=error,
        by_name="rita",
        requested_at=NOON,
        finished_at=NOON if is_over else None,
    )
    assert steps(project) == [(todo, "", 0)]
    Import.objects.all().delete()
    assert steps(project) == [("import", "", 0)]
    archive_project(project=project, by=researcher, now=NOON)
    assert steps(project) == []


@pytest.mark.parametrize(
    ("flag", "number"),
    [("no_data", 1), ("wrong_code", 1), ("redirect_lost", 1), ("place_lost", 0), ("paid_without_data", 0), ("", 0)],
)
def test_submissions_that_do_not_fit_and_can_be_decided_need_somebody(
    client: Client, researcher: User, flag: str, number: int
) -> None:
    study = open_study(project_of(researcher), STEP_3)
    row = ProlificStudy.objects.create(
        study=study, internal_name="one", places=3, reward="4.00", currency="USD", created_at=NOON
    )
    Submission.objects.create(prolific_study=row, id_digest="a", status="AWAITING REVIEW", flag=flag, read_at=NOON)
    found = [step for step in steps(study.project) if step[0] == "look at submissions"]
    assert found == [("look at submissions", study.slug, 1)] * number
    client.force_login(researcher)
    [card] = client.get("/").context["projects"]
    assert list(card.needs) == ["submissions to check: 1"] * number
    shown = "1 submission on Prolific does not match its session in" in text_of(
        client, f"/projects/{study.project.slug}/"
    )
    assert shown == bool(number)

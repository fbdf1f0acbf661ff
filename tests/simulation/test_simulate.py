from collections.abc import Mapping
from io import StringIO
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from django.core.management import CommandError, call_command
from pytest_django import Settings

from annotation.models import Response, Seat, Session, SessionState
from simulation.annotators import BrowserInProcess, CannotRead, Page, annotators, take_part
from studies.models import Study, StudyState
from tests.factories import launch_study, make_instance, make_project

pytestmark = pytest.mark.once(
    on="postgresql", because="who answers what is the program's; on SQLite the demo and the README's walk simulate"
)
RIGHT = ("candidate-0", "candidate-1", "candidate-2", "candidate-3", "none")
MANIFEST = "whitenoise.storage.CompressedManifestStaticFilesStorage"
PRACTICE = {
    "pass": 2,
    "questions": [{"instance": "vase-0", "right": "candidate-0"}, {"instance": "vase-4", "right": "none"}],
}


@pytest.fixture
def study(db: None) -> Study:
    """14 questions with a known right answer in one survey with one seat, after consent and two practice questions."""
    project = make_project()
    for number in range(16):
        make_instance(project, f"vase-{number}", reference={"right": RIGHT[number % 5]})
    return launch_study(project, consent="We keep your answers.", practice=PRACTICE)


def _simulate(study: Study, **options: object) -> str:
    output = StringIO()
    call_command("simulate", study.slug, stdout=output, **options)
    return output.getvalue()


def _right_answers() -> int:
    answers = Response.objects.select_related("question__instance")
    return sum(response.choice == response.question.instance.reference["right"] for response in answers)


def test_a_perfect_annotator_consents_practises_answers_as_the_reference_says_and_finishes(study: Study) -> None:
    said = _simulate(study, annotators=1, accuracy=1.0)

    session = Session.objects.get(study=study)
    assert session.state == SessionState.FINISHED
    assert session.consented_at is not None
    assert session.practice_answers.filter(is_right=True).count() == 2
    assert Response.objects.filter(session=session).count() == _right_answers() == 14
    assert said.startswith("1 session, 14 answers, ")
    assert "Right answers: 14 of 14 (100.0%)" in said


def test_no_answer_of_an_annotator_without_skill_is_the_reference(study: Study) -> None:
    said = _simulate(study, annotators=1, accuracy=0.0)

    assert _right_answers() == 0
    assert "Right answers: 0 of 14 (0.0%)" in said


def test_whoever_comes_when_nothing_is_left_ends_the_simulation_kindly(study: Study) -> None:
    said = _simulate(study, annotators=5, accuracy=0.9)

    assert Session.objects.filter(study=study, state=SessionState.FINISHED).count() == 1
    assert Response.objects.count() == 14
    assert "Turned away: 1 (" in said


def test_the_same_seed_is_the_same_people_who_have_already_taken_part(study: Study) -> None:
    _simulate(study, annotators=1, seed="a")
    said = _simulate(study, annotators=1, seed="a")

    assert Response.objects.count() == 14
    assert said.startswith("1 session, 0 answers")


def test_questions_without_a_reference_are_answered_at_random_and_counted_as_such(db: None) -> None:
    study = launch_study(make_project(), instances=6)

    said = _simulate(study, annotators=1)

    assert Response.objects.count() == 6
    assert "Right answers" not in said
    assert "Random answers, right answer unknown: 6" in said


def test_who_leaves_answers_half_and_the_next_one_takes_the_rest(study: Study) -> None:
    said = _simulate(study, annotators=1, leave=1.0, seed="a")

    assert Response.objects.count() == 7
    assert "Stopped early: 1" in said

    _simulate(study, annotators=1, seed="b")

    assert Response.objects.count() == 14
    assert Response.objects.values("question").distinct().count() == 14


@pytest.mark.parametrize(
    ("option", "text", "sentence"),
    [
        *(("--annotators", text, f"{text} is (less than 1|not a whole number)") for text in ("-5", "0", "many")),
        *(("--accuracy", text, f"{text} is not") for text in ("1.5", "-0.1", "high", "nan")),
        ("--url", "http://127.0.0.1:1", "does not answer"),
        ("--url", "file:///etc/passwd", "is not the address of a site"),
    ],
)
def test_an_option_that_cannot_be_meant_gets_a_sentence(study: Study, option: str, text: str, sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        call_command("simulate", study.slug, option, text)
    assert not Session.objects.exists()


def test_a_study_that_nobody_can_take_part_in_gets_a_sentence(study: Study) -> None:
    with pytest.raises(CommandError, match="There is no study called nowhere"):
        call_command("simulate", "nowhere")
    Study.objects.filter(pk=study.pk).update(state=StudyState.PAUSED)
    with pytest.raises(CommandError, match="is paused, so nobody can come"):
        call_command("simulate", study.slug)


def test_static_files_need_not_be_collected(study: Study, settings: Settings, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path / "never-collected"
    # As on a site without STATIC_WITHOUT_COLLECT: a name that collectstatic has not written down is an error.
    settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": MANIFEST}}
    assert "1 session, 14 answers" in _simulate(study, annotators=1)


def test_a_page_that_fails_gets_a_sentence_and_leaves_no_seat_taken(
    study: Study, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*, session: Session, limit: int) -> None:
        raise RuntimeError("the shelf is empty")

    with monkeypatch.context() as broken:
        broken.setattr("annotation.actions.answering.responses.open_slots", fail)
        with pytest.raises(CommandError, match=r"failed \(RuntimeError: the shelf is empty\).*--traceback"):
            _simulate(study, annotators=1)
    assert "Traceback" not in caplog.text
    assert Seat.objects.filter(study=study, session=None).count() == 1
    assert Session.objects.get().state == SessionState.LAPSED
    # Mended, the same call goes on where it stopped.
    assert "1 session, 14 answers" in _simulate(study, annotators=1)
    assert Session.objects.get().state == SessionState.FINISHED


def test_whatever_ends_a_simulation_leaves_no_seat_taken(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def press_ctrl_c(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("simulation.annotators._measured_times", press_ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        _simulate(study, annotators=1)
    assert Session.objects.count() == 1
    assert Seat.objects.filter(study=study, session=None).count() == 1


class FailingSite(BrowserInProcess):
    """A site that lets people in, and fails at whatever they send then."""

    def send(self, path: str, fields: Mapping[str, str]) -> Page:
        if path.startswith("/take/"):
            return super().send(path, fields)
        return Page(path, 500, BeautifulSoup("", "html.parser"))


def test_a_site_that_fails_gets_a_sentence_and_leaves_no_seat_taken(study: Study) -> None:
    (person,) = annotators(count=1, accuracy=1.0, seed="a")
    with pytest.raises(CannotRead, match="The site failed with the status 500"):
        take_part(browser=FailingSite(), study=study, person=person)
    assert Session.objects.get().state == SessionState.LAPSED
    assert Seat.objects.filter(study=study, session=None).count() == 1


def _describing(texts: list[str]) -> Study:
    """Launch a study that asks for descriptions of three images of a set, with the same `texts` known of each image."""
    project = make_project()
    about = {"other": {"made_up_texts": {f"candidate-{place}": texts for place in range(10)}}}
    make_instance(project, "set", candidates=10, type="static", reference=about)
    ask = {"images": "candidate", "targets": 3}
    return launch_study(project, instances=0, kind="describe", ask=ask, rule="collected-v1")


@pytest.mark.django_db
def test_what_is_written_is_what_the_source_knows_and_something_else_where_that_was_said_before() -> None:
    texts = ["A dog is sitting there.", "A cat is sitting there.", "A cow is sitting there."]
    study = _describing(texts)

    said = _simulate(study, annotators=1)

    # Three images, of each of which the same three things could be said: each is said once.
    assert sorted(response.answer["text"] for response in Response.objects.all()) == sorted(texts)
    assert "  Texts from the source: 3" in said


@pytest.mark.django_db
def test_a_text_that_is_never_taken_ends_the_simulation_with_the_reason() -> None:
    study = _describing(["The third image."])

    with pytest.raises(CommandError, match="says where an image is"):
        _simulate(study, annotators=1)
    assert Seat.objects.filter(study=study, session=None).exists()

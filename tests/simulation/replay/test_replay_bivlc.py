"""The replay in small, through the command: 60 candidates, 40 accepted by step 3, 35 kept by step 4, 8 in the baseline.

By hand: released are 28 of 42 and 7 of 18; step 4 takes away 28 // 7 and 7 // 7 more. Step 3 has 60 answers and 40 of
the second seats of five surveys of 8; step 4 has 40; the baseline 8 x 4. Of 8 instances 90.4 % are 7.
"""

import csv
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command

from annotation.models import Decision, Response, Session, SessionState
from simulation.replay.placeholder_images import GENERATOR
from studies.models import Image, InstanceImage, Membership, Project, Question, Study, Survey
from tests.databases import kept
from tests.factories import make_person
from tests.simulation.replay.manifests import write_accepted, write_manifest, write_results


def replay(folder: Path, **options: Any) -> str:
    out = StringIO()
    call_command(
        "replay_bivlc",
        manifest=write_manifest(folder),
        accepted=write_accepted(folder),
        stdout=out,
        verbosity=0,
        **options,
    )
    return out.getvalue()


def play() -> str:
    with TemporaryDirectory() as folder:
        return replay(Path(folder), results=write_results(Path(folder) / "results"))


played = kept(play)
on_sqlite = pytest.mark.once(on="sqlite", because="the replay of which this is a variant is run and looked at on both")


def test_the_tables_of_a_small_replay_are_those_counted_by_hand(played: str) -> None:
    assert "| imported |  | all | all | 60 | " in played
    assert "| bivlc-step-3 | filter | all | all | 60 | 0 | 0 | 60 | 0 |  | 0 | 40 | 20 |" in played
    assert "| bivlc-step-3 | filter | replace | obj | 42 | 0 | 0 | 42 | 0 |  | 0 | 32 | 10 |" in played
    assert "| bivlc-step-4 | filter | all | all | 40 | 0 | 0 | 40 | 0 |  | 0 | 35 | 5 |" in played
    assert "| bivlc-step-4 | filter | swap | att | 8 | 0 | 0 | 8 | 0 |  | 0 | 7 | 1 |" in played
    assert "| replace | obj | 28 | 112 |" in played
    assert "| all | all | 35 | 140 |" in played
    # The share of 7 in 8.
    assert "| bivlc-baseline | Humans | all | all | 4 | 8 | 87.50" in played
    assert "| instances kept | 35 | 35 | yes |" in played
    assert "172 answers of " in played.splitlines()[-1]


def test_models_are_scored_on_what_was_kept(played: str) -> None:
    models = played.partition("## Models on the dataset")[2]
    # 7 of the 35 rows have the image of the caption wrong: 80 % are right.
    # Wilson's interval of the 28 of 35.
    shares = ["100.00", "80.00", "80.00", "100.00", "100.00", "80.00", "100.00", "64.11–89.96"]
    (row,) = (line for line in models.splitlines() if line.startswith("| guesser | all | all | 35 |"))
    assert [cell.strip(" %") for cell in row.split("|")[5:-1]] == shares


@pytest.mark.usefixtures("played")
def test_step_3_accepts_and_step_4_keeps_what_the_file_says() -> None:
    released = {str(index) for index in (*range(28), *range(42, 49))}
    kept = Decision.objects.filter(study__slug="bivlc-step-4", state=Decision.State.ACCEPTED)
    assert set(kept.values_list("question__instance__key", flat=True)) == released
    assert Decision.objects.filter(study__slug="bivlc-step-3", state=Decision.State.ACCEPTED).count() == 40
    assert not Decision.objects.filter(state=Decision.State.UNDECIDED).exists()


@pytest.mark.usefixtures("played")
def test_five_pairs_answer_the_same_surveys_and_a_researcher_settles_what_they_leave_open() -> None:
    pairs = Survey.objects.filter(study__slug="bivlc-step-3", seats_planned=2)
    assert [survey.survey_questions.count() for survey in pairs] == [8] * 5
    asked_twice = Question.objects.filter(study__slug="bivlc-step-3", answers_wanted=2)
    split = [
        question
        for question in asked_twice
        if len(set(Response.objects.filter(question=question).values_list("choice", flat=True))) == 2
    ]
    assert len(split) > 5
    for question in split:
        assert question.decision.settled_by is not None
        assert question.decision.settled_choice != ""
    assert Decision.objects.exclude(settled_choice="").count() == len(split)


@pytest.mark.usefixtures("played")
def test_step_4_begins_while_step_3_is_at_work_everybody_finishes_and_nobody_answers_a_question_twice() -> None:
    first_of_step_4 = Response.objects.filter(study__slug="bivlc-step-4").order_by("pk")[0]
    last_of_step_3 = Response.objects.filter(study__slug="bivlc-step-3").order_by("-pk")[0]
    assert first_of_step_4.pk < last_of_step_3.pk
    assert set(Session.objects.values_list("state", flat=True)) == {SessionState.FINISHED}
    answered = list(Response.objects.values_list("question", "annotator"))
    assert len(answered) == len(set(answered)) == 172
    # Without an owner nobody can sign in as the one who replays.
    assert not Membership.objects.get().user.has_usable_password()


@pytest.mark.usefixtures("played")
def test_the_baseline_asks_all_texts_before_all_images() -> None:
    for survey in Survey.objects.filter(study__slug="bivlc-baseline"):
        kinds = list(survey.survey_questions.order_by("position").values_list("question__kind", flat=True))
        assert kinds == ["image_to_text"] * 4 + ["text_to_image"] * 4


def test_stand_ins_are_labelled_all_different_and_there_to_be_shown(played: str) -> None:
    # 60 x 4 candidates, and 30 photos of which two rows each have one.
    assert Image.objects.count() == 270
    assert set(InstanceImage.objects.values_list("generator", flat=True)) == {GENERATOR}
    assert not InstanceImage.objects.filter(image=None).exists()
    assert InstanceImage.objects.filter(role="image").count() == 60
    image = Image.objects.all()[0]
    assert default_storage.size(f"images/{image.pk[:2]}/{image.pk}") == image.byte_size
    assert "not the paper's: 270 stand-ins of 4 by 2 pixels" in played


@pytest.mark.usefixtures("played")
def test_a_second_replay_needs_a_project_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is already a project called bivlc"):
        replay(tmp_path)
    replay(tmp_path, project="again")
    assert Study.objects.filter(slug="again-step-4", fed_by__slug="again-step-3").exists()
    assert Project.objects.count() == 2


@on_sqlite
@pytest.mark.usefixtures("played")
def test_the_same_seed_is_the_same_answers_and_another_seed_is_others(tmp_path: Path) -> None:
    def answers(project: str) -> list[tuple[str, str]]:
        given = Response.objects.filter(study__project__slug=project)
        return sorted(given.values_list("question__instance__key", "choice"))

    replay(tmp_path, project="same")
    replay(tmp_path, project="other", seed="another")
    assert len(answers("bivlc")) == 172
    assert answers("bivlc") == answers("same")
    assert answers("bivlc") != answers("other")


@on_sqlite
@pytest.mark.django_db
def test_a_replay_with_images_of_ones_own_draws_none(tmp_path: Path) -> None:
    import PIL.Image

    with write_manifest(tmp_path).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = sorted({row["filename"] for row in rows} | {row[f"hn_img_{n}"] for row in rows for n in range(4)})
    for number, name in enumerate(names):
        PIL.Image.new("RGB", (8, 8), (number % 256, number // 256, 90)).save(tmp_path / name)
    out = replay(tmp_path, images=tmp_path)
    assert "stand-in" not in out
    assert not InstanceImage.objects.filter(generator=GENERATOR).exists()
    assert "| instances kept | 35 | 35 | yes |" in out


@on_sqlite
@pytest.mark.django_db
def test_results_that_say_neither_right_nor_wrong_are_refused(tmp_path: Path) -> None:
    folder = write_results(tmp_path / "results")
    file = folder / "BiVLC_guesser.csv"
    file.write_text(file.read_text(encoding="utf-8").replace("False", "maybe", 1), encoding="utf-8")
    with pytest.raises(CommandError, match=r"Record 1 .*Tpos_2I is 'maybe'"):
        replay(tmp_path, results=folder)


@on_sqlite
@pytest.mark.django_db
def test_a_replay_that_keeps_other_instances_than_were_released_ends_with_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulation.replay.pipeline.step_4_answer", lambda key, outcome, seed: "original")
    with pytest.raises(CommandError, match="instances kept: 35 published, 40 here"):
        replay(tmp_path)


@on_sqlite
@pytest.mark.django_db
def test_who_is_named_as_owner_owns_the_project_and_settles(tmp_path: Path) -> None:
    ada = make_person("ada")
    replay(tmp_path, owner="ada")
    assert Membership.objects.get().user == ada
    assert set(Decision.objects.exclude(settled_choice="").values_list("settled_by", flat=True)) == {ada.pk}
    assert not User.objects.exclude(pk=ada.pk).exists()


def short(file: Path) -> Path:
    """Return a file with the head and the first 39 rows of another."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:40]), encoding="utf-8")
    return file


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (lambda _: {"owner": "nobody"}, "There is no user called 'nobody'"),
        (lambda _: {"project": "two words"}, "'two words' cannot name a project"),
        (lambda _: {"project": "b" * 41}, "is too long"),
        (lambda _: {"manifest": Path("nothing.csv")}, "nothing.csv cannot be read"),
        (lambda folder: {"images": folder}, "lacks 30 of the 30 original photos"),
        (lambda folder: {"results": folder}, "has no result file"),
        (lambda folder: {"accepted": short(write_accepted(folder))}, "do not have the same rows"),
        (
            lambda folder: {"manifest": short(write_manifest(folder)), "accepted": short(write_accepted(folder))},
            "The manifest has 39 rows; a replay takes at least 40",
        ),
    ],
)
def test_what_cannot_be_replayed_is_said_before_anything_is_made(
    options: Callable[[Path], dict[str, Any]], said: str, tmp_path: Path
) -> None:
    files = {"manifest": write_manifest(tmp_path), "accepted": write_accepted(tmp_path)}
    with pytest.raises(CommandError, match=said):
        call_command("replay_bivlc", verbosity=0, **(files | options(tmp_path)))
    assert not Project.objects.exists()

"""The replay of ImageCoDe in small, through the command, over seven sets written by hand.

By hand: train has 2 still sets with 4 descriptions and 2 videos with 4, valid 1 with 3 and 2 with 3. Where the image is
always found, that takes 8 x 1 + 6 x 2 answers. Two sets with 5 descriptions are described again: 20 images are asked
about, one text names a place and is not taken, and 4 are looked for by two people each.
"""

import json
from collections import defaultdict
from fractions import Fraction
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Decision, Response
from simulation.replay.imagecode.published_numbers import ACCURACY, ALPHA_NOMINAL, HUMANS_VALID
from studies.models import Image, Instance, Project, Question, Study
from tests.databases import kept

SETS = {
    "train_data.json": {
        "open-images-1_a": {"0": "A dog sits on the sofa.", "4": "A dog lies on the sofa."},
        "MSR-VTT-videoTrainVideo_1-shot1_0": {
            "1": "A hand is raised.",
            "2": "Two hands.",
            "9": "No hand is to be seen.",
        },
        "YouCook-1-shot1_0": {"5": "The pan is empty now."},
        "open-images-2_b": {"3": "A red door, half open.", "8": "A red door that is shut."},
    },
    "valid_data.json": {
        "open-images-3_c": {
            "0": "Three birds on a wire.",
            "1": "Two birds on a wire.",
            "2": "The third image of birds.",
        },
        "MSR-VTT-videoTestVideo_7-shot1_0": {"3": "She opens her mouth.", "6": "Her mouth is shut."},
        "video-storytelling-4-shot1_0": {"7": "Nobody stands there."},
    },
}
AUTHORS = {
    "open-images-3_c": {"0": "train_worker", "1": "unseen_worker", "2": "unseen_worker"},
    "MSR-VTT-videoTestVideo_7-shot1_0": {"3": "train_worker", "6": "train_worker"},
    "video-storytelling-4-shot1_0": {"7": "unseen_worker"},
}
# Six descriptions, and one that is not in the split: context in two and that one, the others in one each.
TAGS = """\
"open-images-3_c":
  "0": {"description": "", "annotation": "con,q"}
  "1": {"description": "", "annotation": ",con"}
  "2": {"description": "", "annotation": ""}
"MSR-VTT-videoTestVideo_7-shot1_0":
  "3": {"description": "", "annotation": "t"}
  "6": {"description": "", "annotation": ""}
"video-storytelling-4-shot1_0":
  "7": {"description": "", "annotation": "neg"}
  "8": {"description": "", "annotation": "con"}
"""
on_sqlite = pytest.mark.once(on="sqlite", because="the replay of which this is a variant is run and looked at on both")


def replay(folder: Path, **options: Any) -> str:
    files = {name: json.dumps(sets) for name, sets in SETS.items()}
    files |= {"annotator_split_valid.json": json.dumps(AUTHORS), "manual_annotation_valid.yaml": TAGS}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    out = StringIO()
    given = {
        "train": folder / "train_data.json",
        "valid": folder / "valid_data.json",
        "split": folder / "annotator_split_valid.json",
        "tags": folder / "manual_annotation_valid.yaml",
    }
    call_command("replay_imagecode", **given | {"images_later": True, "verbosity": 0, "stdout": out} | options)
    return out.getvalue()


def right_by_description(slug: str) -> dict[tuple[str, int], list[bool]]:
    """Return whether each answer of a study is right, by set and description, in the order of the answers."""
    rights: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for each in Response.objects.filter(study__slug=slug).select_related("question__instance").order_by("pk"):
        rights[each.question.instance.key, each.question.source_id].append(each.choice == each.question.right)
    return dict(rights)


def play() -> str:
    with TemporaryDirectory() as folder:
        return replay(Path(folder), accuracy=1.0, described=2)


played = kept(play)


def test_the_tables_of_a_small_replay_are_those_counted_by_hand(played: str) -> None:
    # Sets and descriptions, each beside what was released.
    assert "| train | all | 4 | 7,317 | 8 | 16,594 |" in played
    assert "| train | static | 2 | 1,281 | 4 | 3,501 |" in played
    assert "| train | MSR-VTT | 1 | 2,641 |" in played
    assert "| train | video-storytelling | 0 | 3,274 |" in played
    assert "| valid | YouCook | 0 | 80 |" in played
    assert "| train | video | 2 | 6,036 | 4 | 13,093 |" in played
    assert "| valid | static | 1 | 155 | 3 | 430 |" in played
    assert "| valid | video | 2 | 884 | 3 | 1,872 |" in played
    # The file says seven descriptions, the last of them of an image that is not described.
    assert "| context | 3 | 7 | 42.9 | 47.3 | 2 | 6 |" in played
    assert "| quantities | 1 | 7 | 14.3 | 48.5 | 1 | 6 |" in played
    assert "| spatial | 0 | 7 | 0.0 | 70.5 | 0 | 6 |" in played
    # Words, commas and full stops: 7 + 7 + 5 + 3 + 7 + 6 + 7 + 7 = 49 of 8, and 6 + 6 + 6 + 5 + 5 + 4 = 32 of 6.
    assert "| train | 8 | 6.1 |  | 1.0 |  |" in played
    assert "| valid | 6 | 5.3 |  | 1.0 |  |" in played
    assert "| both | 14 | 5.8 | 23.3 | 1.0 | 1.6 |" in played
    valid = "| imagecode-retrieve-valid | all |"
    assert f"{valid} found, percent of answers, after acceptance | 100.0 | 12 | 90.9 |" in played
    assert f"{valid} found, percent, averaged over retrievers, all answers | 100.0 | 12 |  |" in played
    assert "| Accuracy of people on the test split | 90.8 % | needs the answers, never released |" in played
    assert f"{valid} filtered out, percent | 0.0 | 6 | 26.5 |" in played
    assert f"{valid} Krippendorff's alpha after acceptance, nominal | 1.000 | 6 | 0.797 |" in played
    assert f"{valid} Krippendorff's alpha after acceptance, interval | 1.000 | 6 | 0.872 |" in played
    assert "| retrievers, train | 1 | 8 |" in played
    assert "| retrievers, valid | 2 | 12 |" in played
    # Sets, texts, and the one that says "the third image".
    assert "| 2 | 5 | 1 |" in played
    assert "| imagecode-written-retrieve | all | 4 | 16 | 4 | 4 | 0 | 0 |" in played
    assert "48 answers of " in played.splitlines()[-1]


def test_every_answer_is_stored_and_every_description_decided(played: str) -> None:
    assert Instance.objects.filter(project__slug="imagecode").count() == 7
    # Seven sets of ten, two of them in both projects.
    assert Image.objects.count() == 70
    assert {study.slug: (study.rule, study.purpose) for study in Study.objects.all()} == {
        "imagecode-retrieve-train": ("retrieved-1-of-1-v1", "filter"),
        "imagecode-retrieve-valid": ("retrieved-2-of-3-v1", "filter"),
        "imagecode-written-describe": ("described-v1", "filter"),
        "imagecode-written-retrieve": ("retrieved-2-of-3-v1", "filter"),
    }
    for slug in ("imagecode-retrieve-train", "imagecode-retrieve-valid", "imagecode-written-retrieve"):
        states = Decision.objects.filter(study__slug=slug).values_list("state", flat=True)
        assert set(states) == {"accepted"}
    # What was written is what was published about the image that was marked.
    texts = SETS["valid_data.json"]
    written = Response.objects.filter(study__slug="imagecode-written-describe").select_related("question__instance")
    said = [each for each in written if "text" in each.answer]
    assert (written.count(), len(said)) == (20, 4)
    for each in said:
        target = str(each.question.content["target"])
        assert each.answer["text"] == texts[each.question.instance.key][target]
    # These four are accepted, and the sixteen about which nothing was said are not.
    described = Decision.objects.filter(study__slug="imagecode-written-describe")
    assert described.filter(state="accepted").count() == 4
    assert described.filter(state="rejected").count() == 16


def test_nobody_looks_for_what_they_wrote(played: str) -> None:
    for question in Question.objects.filter(study__slug="imagecode-written-retrieve"):
        writer = Response.objects.get(pk=question.source_id).annotator_id
        assert writer not in question.responses.values_list("annotator", flat=True)


@on_sqlite
@pytest.mark.django_db
def test_whoever_never_finds_anything_has_everything_filtered_out_without_a_third_answer(tmp_path: Path) -> None:
    said = replay(tmp_path, accuracy=0.0, described=0)

    assert "| imagecode-retrieve-valid | all | filtered out, percent | 100.0 | 6 | 26.5 |" in said
    assert "20 answers of 3 annotators" in said.splitlines()[-1]
    assert not Project.objects.filter(slug="imagecode-written").exists()


@on_sqlite
@pytest.mark.django_db
def test_accuracy_is_counted_over_the_answers_to_accepted_descriptions(tmp_path: Path) -> None:
    said = replay(tmp_path, accuracy=0.6, seed="some", described=0)
    rights = right_by_description("imagecode-retrieve-valid")
    accepted = [right for each in rights.values() if sum(each) >= 2 for right in each]
    everything = [right for each in rights.values() for right in each]
    assert sum(accepted) / len(accepted) != sum(everything) / len(everything)
    percent = f"{100 * sum(accepted) / len(accepted):.1f}"
    all_sets = "| imagecode-retrieve-valid | all | found, percent of answers, after acceptance"
    assert f"{all_sets} | {percent} | {len(accepted)} | 90.9 |" in said


def test_the_default_accuracy_gives_the_papers_accuracy_and_alpha() -> None:
    p = Fraction(ACCURACY)
    two, three = p**2, 2 * p**2 * (1 - p)
    answers = 2 * two + 3 * three
    assert round(float(2 * (two + three) / answers), 3) == HUMANS_VALID / 100
    # Ten images, each described as often: of two answers at random 9 in 10 differ. In three answers with one wrong, two
    # of the three pairs differ, and each pair weighs 2 / (3 - 1) (Krippendorff's alpha with missing answers).
    assert float(1 - three * 2 / answers / Fraction(9, 10)) == pytest.approx(ALPHA_NOMINAL, abs=0.002)


@on_sqlite
@pytest.mark.django_db
def test_a_third_is_asked_exactly_where_one_of_two_found_it_and_the_same_seed_is_the_same_replay(
    tmp_path: Path,
) -> None:
    asked = {"accuracy": 0.5, "seed": "some", "described": 0}
    replay(tmp_path, project="one", **asked)
    replay(tmp_path, project="two", **asked)

    found = right_by_description("one-retrieve-valid")
    assert found == right_by_description("two-retrieve-valid")
    assert len(found) == 6
    assert {len(right) for right in found.values()} == {2, 3}
    for right in found.values():
        assert len(right) == (3 if right[0] != right[1] else 2)


@on_sqlite
@pytest.mark.django_db
def test_a_project_of_that_name_or_files_whose_names_tell_no_split_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "mine.json"
    other.write_text(json.dumps(SETS["train_data.json"]), encoding="utf-8")
    with pytest.raises(CommandError, match="No image set is in the split train"):
        replay(tmp_path, train=other, project="mine")
    Project.objects.create(slug="imagecode-written", name="There")
    with pytest.raises(CommandError, match="already a project called imagecode-written"):
        replay(tmp_path)
    assert not Project.objects.filter(slug="imagecode").exists()

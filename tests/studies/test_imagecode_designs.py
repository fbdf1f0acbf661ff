"""What the study files that ship for ImageCoDe say, held against what the paper did (product.md, section 3)."""

from pathlib import Path

import pytest
from django.conf import settings

from studies.design import Design, read_design
from studies.rules import Vote, VoteContext, get_rule
from studies.rules.base import State

FOLDER = Path(settings.BASE_DIR) / "studies" / "designs"


def design(name: str) -> Design:
    return read_design((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))


def test_three_images_of_a_set_are_described_again_until_somebody_finds_them() -> None:
    describe = design("imagecode-describe")

    assert describe.parts[0].ask["targets"] == 3
    assert (describe.rule, describe.answers, describe.max_answers) == ("described-v1", 1, 3)
    # Whoever writes what too few find is paused, and not before much is known of them.
    (paused,) = (each.parameters for each in describe.eligibility if each.rule == "accuracy")
    assert (paused["study"], paused["by"], paused["answers"]) == (describe.study, "acceptance", 20)
    assert describe.purpose in {"filter", "collection"}
    assert describe.dataset is False


@pytest.mark.parametrize(
    ("name", "splits", "found", "expected"),
    [
        # 1 of 1 for train.
        ("imagecode-retrieve-train", ["train"], [True], (State.ACCEPTED, False)),
        ("imagecode-retrieve-train", ["train"], [False], (State.REJECTED, False)),
        # 2 of up to 3 for the others, and a third only after one of each.
        ("imagecode-retrieve-test", ["valid", "test"], [True, True], (State.ACCEPTED, False)),
        ("imagecode-retrieve-test", ["valid", "test"], [False, False], (State.REJECTED, False)),
        ("imagecode-retrieve-test", ["valid", "test"], [True, False], (State.UNDECIDED, True)),
        ("imagecode-retrieve-test", ["valid", "test"], [True, False, True], (State.ACCEPTED, False)),
        ("imagecode-retrieve-test", ["valid", "test"], [False, True, False], (State.REJECTED, False)),
    ],
)
def test_a_description_passes_as_in_the_paper(
    name: str, splits: list[str], found: list[bool], expected: tuple[State, bool]
) -> None:
    retrieve = design(name)

    assert list(retrieve.instances.split) == splits
    assert retrieve.instances.from_study == "imagecode-describe"
    assert retrieve.purpose == "filter"
    asked = VoteContext(wanted=max(retrieve.answers, len(found)), most=retrieve.max_answers, right="image_3")
    given = [Vote("image_3" if right else "image_4") for right in found]
    verdict = get_rule(retrieve.rule).decide(asked, given)
    assert (verdict.state, verdict.more) == expected


@pytest.mark.parametrize("name", ["imagecode-retrieve-train", "imagecode-retrieve-test"])
def test_retrievers_qualify_find_enough_never_described_the_set_and_are_paid_for_waiting(name: str) -> None:
    retrieve = design(name)

    rules = {each.rule: each.parameters for each in retrieve.eligibility}
    assert rules.keys() == {"qualified", "accuracy", "not_same_instance"}
    assert rules["qualified"]["study"] == design("imagecode-qualification").study
    assert rules["accuracy"]["study"] == retrieve.study
    assert rules["not_same_instance"]["study"] == design("imagecode-describe").study
    assert retrieve.lobby.minutes > 0
    assert retrieve.lobby.pay > 0
    # Whoever waits as long and then finds one image has no less, and a whole sitting is half an hour at 12 dollars.
    assert retrieve.pay.per_session + retrieve.pay.per_answer > retrieve.lobby.pay
    assert retrieve.pay.per_session + retrieve.surveys.size * retrieve.pay.per_answer == 6
    assert retrieve.language == "en"


def test_whoever_qualifies_can_answer_as_many_questions_as_are_asked_for() -> None:
    qualification = design("imagecode-qualification")

    assert qualification.purpose == "qualification"
    # Two tries, each about ten others.
    tries = qualification.recruitment.sessions_per_annotator
    assert (tries, qualification.surveys.size, qualification.instances.sample) == (2, 10, 20)

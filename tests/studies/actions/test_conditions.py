"""What a launch reads of blind baselines. From asking them to the launch: tests/predictions/actions/test_blind.py."""

from collections.abc import Sequence

import pytest

from evaluation.blind.accuracy import BlindAccuracy
from studies.actions.conditions import check_conditions, digest_of, note_blind_score
from studies.design.model import BlindSolvability, LaunchConditions
from studies.errors import StudyError
from studies.models import BlindScore, Question, Study
from tests.factories import NOON, create_draft, launch_study, redesign

pytestmark = pytest.mark.django_db
NGRAMS = "text-only:ngrams"
FOUND = BlindAccuracy(share=0.7, low=None, high=None, chance=0.5, n=1, groups=1, reason="One group.")


def draft(at_most: float) -> Study:
    limit = {"blind_solvability": {"baselines": [NGRAMS], "at_most": at_most}}
    ask = {"images": ["candidate"], "captions": ["caption", "negative_caption"]}
    return create_draft(kind="image_to_text", ask=ask, conditions=limit)


def question(text: str, right: str = "caption") -> Question:
    content = {
        "image": {"key": "image", "image": "a" * 64, "width": 8, "height": 6},
        "options": [{"key": "caption", "text": text}, {"key": "negative_caption", "text": "A dog."}],
    }
    return Question(kind="image_to_text", variant="image", content=content, right=right)


def note(study: Study, asked: Sequence[Question], found: BlindAccuracy = FOUND) -> None:
    note_blind_score(study=study, baseline=NGRAMS, about=digest_of(asked), found=found, left_out=2, now=NOON)


def test_questions_are_the_same_in_any_order_and_others_with_another_right_answer() -> None:
    cat, cow = question("A cat."), question("A cow.")
    assert digest_of([cat, cow]) == digest_of([cow, cat])
    others = [[cat], [cat, cat], [cat, question("A bird.")], [cat, question("A cow.", "negative_caption")]]
    assert digest_of([cat, cow]) not in {digest_of(each) for each in others}


def test_the_share_itself_is_held_against_the_bound() -> None:
    asked = [question("A cat.")]
    study = draft(at_most=0.7)
    note(study, asked)
    check_conditions(study, asked)
    redesign(study, conditions=LaunchConditions(blind_solvability=BlindSolvability(baselines=(NGRAMS,), at_most=0.69)))
    with pytest.raises(StudyError, match=r"is right on 70\.0 % of 1 question.*guessing gives 50\.0 %.* allows 69\.0 %"):
        check_conditions(study, asked)


def test_what_is_found_later_replaces_what_was_noted_of_a_draft() -> None:
    study = draft(at_most=0.6)
    note(study, [question("A cat.")])
    note(study, [question("A cow.")], BlindAccuracy(None, None, None, None, 0, 0, "Nothing."))
    score = BlindScore.objects.get()
    assert (score.about, score.share, score.questions) == (digest_of([question("A cow.")]), None, 0)


def test_nothing_is_noted_of_a_study_that_was_launched() -> None:
    study = launch_study()
    note(study, [question("A cat.")])
    assert not BlindScore.objects.exists()

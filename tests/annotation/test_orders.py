"""The order in which options stand: nobody can compute it from what is public, and no session's order changes."""

import hashlib
import random
from collections.abc import Iterable

import pytest

from annotation.actions.answering import responses
from annotation.models import Session
from studies.models import Question
from tests.factories import arrive, fresh, launch_study

pytestmark = pytest.mark.django_db
HONEST, REMAINING, NEARBY = 24, 46, 150
RIGHT = "candidate-1"


def position(seed: str, annotator: int, question: int, keys: Iterable[str]) -> int:
    """Return where the right option stands when SHA-256 of the three decides, as whoever reads the source knows."""
    shuffled = list(keys)
    digest = hashlib.sha256(f"{seed}|{annotator}|{question}".encode()).digest()
    random.Random(int.from_bytes(digest[:8], "big")).shuffle(shuffled)
    return shuffled.index(RIGHT)


def predicted(session: Session, seeds: Iterable[str]) -> int:
    """Play the attack: answer honestly first, look for the ids under which all of it fits, predict the rest.

    Returns how many of the remaining places were right. The attacker knows the names of the study, how far the
    questions' ids lie apart, about how many annotators there were before, and where the right option stood in the
    questions answered.
    """
    asked = list(Question.objects.filter(study=session.study).order_by("pk"))
    true = [responses.order_for(session=session, question=question).index(RIGHT) for question in asked]
    keys = [option["key"] for option in asked[0].content["options"]]
    best, guesses = -1, [0] * REMAINING
    own = session.annotator_id
    for seed in seeds:
        for annotator in range(max(1, own - NEARBY), own + NEARBY):
            for first in (asked[0].pk - 1, asked[0].pk, asked[0].pk + 1):
                computed = [position(seed, annotator, first + number, keys) for number in range(HONEST)]
                fits = sum(ours == seen for ours, seen in zip(computed, true[:HONEST], strict=True))
                if fits > best:
                    best = fits
                    guesses = [position(seed, annotator, first + HONEST + number, keys) for number in range(REMAINING)]
    return sum(ours == seen for ours, seen in zip(guesses, true[HONEST:], strict=True))


def test_what_is_public_predicts_the_order_no_better_than_chance() -> None:
    study = launch_study(instances=HONEST + REMAINING)
    session = arrive(study)
    public = [study.slug, study.seed, study.public_token, study.title, study.invite_token]
    # By chance 46 / 4 = 11.5 are right, with a standard deviation of 2.9: 28 are beyond anything that happens.
    assert predicted(session, public) < 28


def test_a_session_begun_before_there_was_a_secret_keeps_its_order() -> None:
    study = launch_study(instances=HONEST + REMAINING)
    session = arrive(study)
    # As the version before stored it: the order rests on the study's seed, which is why the attack worked.
    Session.objects.update(order_key="")
    assert predicted(fresh(session), [study.slug]) == REMAINING

"""The desk brings a study with careless people nearer to the truth, in one small simulated study."""

import random

from benchmarks.quality_desk import Seated, numbers, run
from simulation.session_profiles import KINDS, PROFILES, Asked, Survey, sit

CHECK = next(each for each in KINDS if each.name == "yes-no")
# With two options, some of the careless types are not found.
PICK = next(each for each in KINDS if each.name == "pick")


def test_a_score_is_the_mean_over_people_and_checks_count_nowhere() -> None:
    """Of two questions one person says yes twice, where yes and no are right: 1 of 2. The gold question is left out."""
    asked = [Asked(1, "yes", "no", 0.0, frozenset()), Asked(2, "no", "yes", 0.0, frozenset())]
    gold = Asked(3, "no", "yes", 0.0, frozenset(), (), "gold")
    survey = Survey(CHECK, [*asked, gold])
    first, second = (
        Seated(0, PROFILES[name], sit(survey, PROFILES[name], session=number, dice=random.Random(1)))
        for number, name in enumerate(("always the first", "typical"))
    )
    labels = {each.answer.question: each.answer.label for each in first.sent}
    assert set(labels.values()) == {"yes"}
    # The typical person never errs where nothing is difficult: (1/2 + 1) / 2.
    assert {each.answer.label for each in second.sent} == {"yes", "no"}
    assert numbers([survey], [first, second]).score == 0.75


def test_the_desk_brings_score_and_agreement_nearer_to_the_truth() -> None:
    found = run(PICK, length=100, careless=1 / 3, seed=1)
    for name in ("score", "alpha"):
        before, after, truth = (getattr(each, name) for each in (found.before, found.after, found.truth))
        assert before < truth
        assert abs(after - truth) < abs(before - truth) / 2
    assert found.left < 1 / 6


def test_without_careless_people_hardly_anything_changes() -> None:
    found = run(CHECK, length=20, careless=0.0, seed=1)
    assert found.wrongly == found.excluded <= found.sessions * 0.05
    assert abs(found.after.score - found.truth.score) < 0.05

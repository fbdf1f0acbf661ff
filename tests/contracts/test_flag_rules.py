"""Contract tests for every flag rule, and for the measured precision that stands beside it."""

import json
import random
from collections.abc import Sequence
from functools import cache

import pytest
from django.conf import settings

from analytics.flags import ALL_RULES, MEASURED, RULES, AnswerRecord, SessionRecord, get_flag_rule, measured_rule
from analytics.session_comparison import SentRecord
from analytics.study_flags import find_flags
from annotation.models import SessionFlag
from benchmarks.session_flags import docs_table
from simulation.session_profiles import CHEATERS, HONEST, KINDS, PROFILES, draw_survey, sit

# Of each honest type, by all rules together.
MOST_FALSE_ALARMS = 0.05
every_rule = pytest.mark.parametrize("rule", RULES)
# Whom each rule is for: a profile, and the kind of study and number of questions in which it must be found.
FINDS = {
    "claimed_time": ("claims more time", "pick", 20),
    "copied_text": ("pastes the caption", "description", 20),
    "even_times": ("program with even times", "yes-no", 20),
    "failed_checks": ("random clicks", "pick", 100),
    "fast_and_different": ("hurried", "pick", 100),
    "hidden_tab": ("tab hidden", "pick", 20),
    "low_agreement": ("random clicks", "pick", 100),
    "pasted_text": ("pastes at once", "description", 20),
    "patterns": ("cycle of places", "retrieval", 20),
    "place_habit": ("always the first", "pick", 20),
    "same_answers": ("copies a session", "yes-no", 100),
    "too_fast": ("too fast", "pick", 20),
    "typing_rhythm": ("types by script", "description", 20),
    "weak_signs": ("random clicks", "pick", 100),
}


@cache
def _flags_of(profile: str, kind: str, size: int) -> Sequence[tuple[str, dict[str, object]]]:
    """Return rule and evidence of every flag of five sessions like `profile`, each among four typical ones."""
    dice = random.Random(f"{profile} {kind} {size}")
    (found,) = (each for each in KINDS if each.name == kind)
    sent: list[SentRecord] = []
    captions: dict[int, Sequence[str]] = {}
    for number in range(5):
        survey = draw_survey(found, size=size, first=1000 * number, dice=dice)
        captions |= survey.captions
        sessions: list[Sequence[SentRecord]] = []
        for seat, name in enumerate(["typical"] * 4 + [profile]):
            sessions.append(sit(survey, PROFILES[name], session=5 * number + seat, dice=dice, earlier=sessions))
        sent += [each for session in sessions for each in session]
    flags = find_flags(sent, captions=captions)
    return [
        (rule, dict(evidence))
        for session, rules in flags.items()
        if session % 5 == 4
        for rule, evidence in rules.items()
    ]


@every_rule
def test_a_rule_is_described(rule: str) -> None:
    made = get_flag_rule(rule)
    assert made.name == rule
    assert len(rule) <= (SessionFlag._meta.get_field("rule").max_length or 0)
    assert made.version >= 1
    assert made.title[0].isupper()
    assert not made.title.endswith(".")
    assert made.misses.endswith(".")


@every_rule
def test_nothing_is_found_where_nothing_is_known(rule: str) -> None:
    made = get_flag_rule(rule)
    assert made.find(SessionRecord([])) is None
    bare = [AnswerRecord(n, n, "pick", None, None, 0, 0, 0, None, None, None) for n in range(1, 51)]
    assert made.find(SessionRecord(bare)) is None


@pytest.mark.parametrize("rule", sorted(FINDS))
def test_evidence_is_json_and_a_sentence_says_it(rule: str) -> None:
    flags = [evidence for name, evidence in _flags_of(*FINDS[rule]) if name == rule]
    assert flags
    for evidence in flags:
        again = json.loads(json.dumps(evidence, allow_nan=False))
        assert again == evidence
        sentence = get_flag_rule(rule).sentence(again)
        assert sentence.endswith(".")
        assert any(character.isdigit() for character in sentence)
        assert "{" not in sentence


def test_every_rule_finds_somebody() -> None:
    assert set(FINDS) == set(RULES)


@every_rule
def test_the_measured_version_is_the_rules(rule: str) -> None:
    """A rule that flags other sessions gets a new version: then run `python -m benchmarks.session_flags --store`."""
    assert measured_rule(rule).version == get_flag_rule(rule).version


def test_few_honest_people_of_each_type_are_flagged() -> None:
    measured = json.loads(MEASURED.read_text())
    assert set(measured["profiles"]) == {each.name for each in (*HONEST, *CHEATERS)}
    for each in HONEST:
        assert measured["profiles"][each.name]["flagged"] <= MOST_FALSE_ALARMS
    assert measured_rule(ALL_RULES).honest == sum(measured["profiles"][each.name]["n"] for each in HONEST)


def test_the_documentation_has_every_rule_and_its_measured_figures() -> None:
    docs = (settings.BASE_DIR / "docs/quality.md").read_text()
    assert docs_table(json.loads(MEASURED.read_text())) in docs
    for rule in RULES:
        # Once with what it misses, once with its figures.
        assert docs.count(f"\n| {get_flag_rule(rule).title} |") == 2

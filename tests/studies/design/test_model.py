"""Designs as they are stored: what an older version wrote, what a later one did, and the way there and back."""

import json
from collections.abc import MutableMapping
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from studies.design import Design, DesignRefused, read_design
from studies.design.model import Answering, BlindSolvability, Endings, Lobby, Part

ASK = {"caption": "negative_caption", "images": "candidate", "becomes": "negative_image"}
MATCHING = {"images": ["image", "negative_image"], "captions": ["caption", "negative_caption"]}


def stored(**changed: Any) -> dict[str, Any]:
    """Return a design as the first version with study files stored it."""
    return {
        "study": "best-vase",
        "title": "Which vase?",
        "kind": "best_of_n",
        "ask": ASK,
        "instructions": "Pick one.",
        "instances": {"type": ["add"], "subtype": [], "split": [], "keys": []},
        "answers": 3,
        "surveys": {"size": 50, "double_seats": 2},
        "rule": "chosen-v1",
        "seed": "best-vase",
        "recruitment": {
            "prolific": True,
            "invite": False,
            "prolific_study_ids": ["5" * 24],
            "other_studies": "refuse",
            "sessions_per_annotator": 0,
        },
        "time": {"estimated_minutes": 20, "limit_minutes": 51},
        "pay": {"currency": "GBP", "per_session": "4.50"},
        "consent": "",
        "practice": {"pass": 1, "rounds": 2, "questions": [{"instance": "a", "right": "none", "feedback": ""}]},
        **changed,
    }


def test_a_design_of_the_first_version_has_what_came_later() -> None:
    design = Design.from_stored(stored())
    assert design.version == 5
    assert design.parts == (Part(kind="best_of_n", ask=ASK, instructions="Pick one."),)
    assert (design.answers, design.max_answers, design.purpose, design.dataset) == (3, 3, "filter", None)
    assert (design.instances.from_study, design.instances.sample, design.instances.type) == ("", None, ("add",))
    assert design.recruitment.any_ids is True
    assert design.pay.per_session == Decimal("4.50")
    assert (design.practice.needed, design.practice.questions[0].instance) == (1, "a")
    # What those versions did: buttons in the reader's language, nobody named, no time to ask for, unpaid when stopped.
    assert (design.language, design.contact, design.time.more_minutes) == ("", "", 0)
    assert design.answering == Answering(one_action="off", last_look=False, record_writing=False)
    assert design.endings == Endings(stopped="return", time_over="return")


PLAIN = "study: a\ntitle: T\nkind: best_of_n\ncontact: Ada\n"


def older(version: int, *lacking: str, source: str = PLAIN, **changed: Any) -> Design:
    """Return a design as `version` stored it: without the entries that came later."""
    written: dict[str, Any] = read_design(source).to_stored() | changed
    for path in lacking:
        section, _, name = path.rpartition(".")
        del (written[section] if section else written)[name]
    return Design.from_stored(written | {"version": version})


def test_a_design_of_version_1_has_what_came_with_version_2() -> None:
    design = older(1, "language", "contact", "answering", "endings", "lobby", "time.more_minutes")
    assert (design.version, design.language, design.recruitment.any_ids) == (5, "", False)
    assert design.endings == Endings(stopped="return", time_over="return")


def test_a_design_of_version_2_has_what_came_with_version_3() -> None:
    design = older(2, "lobby", "eligibility", "answering.record_writing")
    # It keeps nobody out, lets nobody wait, and records nothing of how texts are written.
    assert (design.version, design.contact, design.eligibility) == (5, "Ada", ())
    assert design.lobby == Lobby(minutes=0, pay=Decimal(0), either_role=False)
    assert design.answering == Answering(one_action="off", last_look=False, record_writing=False)
    assert Design.from_stored(design.to_stored()) == design


def test_a_design_of_version_3_is_launched_without_conditions() -> None:
    design = older(3, "conditions", source=f"{PLAIN}lobby: {{either_role: true}}\n")
    assert (design.version, design.conditions.blind_solvability) == (5, None)
    assert design.lobby.either_role


def test_a_design_of_version_4_pays_every_finished_session_in_full() -> None:
    live = "study: a\ntitle: T\nkind: ambiguity\ninstances: {from: b}\npay: {per_session: '2.00'}\n"
    assert read_design(live).pay.least_answers == 100
    design = older(4, "pay.least_answers", source=live)
    assert (design.version, design.pay.least_answers) == (5, 1)


@pytest.mark.parametrize(
    ("kind", "lines", "recorded"),
    [
        ("describe", "consent: We record how you write.", True),
        ("describe", "consent: We keep your texts.\nanswering: {record_writing: false}", False),
        # Nobody has been told.
        ("describe", "", False),
        ("best_of_n", "consent: We keep your answers.", False),
    ],
)
def test_how_texts_are_written_is_recorded_where_there_are_some_and_the_consent_says_so(
    kind: str, lines: str, recorded: bool
) -> None:
    assert read_design(f"study: a\ntitle: T\nkind: {kind}\n{lines}\n").records_writing is recorded


def test_conditions_are_stored_as_they_are_read() -> None:
    design = read_design(
        "study: a\ntitle: T\nkind: image_to_text\n"
        "conditions: {blind_solvability: {baselines: [text-only:ngrams], at_most: 1}}\n"
    )
    assert design.conditions.blind_solvability == BlindSolvability(baselines=("text-only:ngrams",), at_most=1.0)
    assert Design.from_stored(design.to_stored()) == design


def test_a_new_design_without_the_lines_is_english_and_strict_about_ids() -> None:
    """An older one is not."""
    design = read_design("study: a\ntitle: T\nkind: best_of_n\n")
    assert (design.language, design.contact, design.time.more_minutes) == ("en", "", 0)
    assert design.answering == Answering(one_action="off", last_look=False, record_writing=True)
    assert design.endings == Endings(stopped="return", time_over="return")
    assert design.recruitment.any_ids is False


def test_an_older_study_of_questions_with_right_answers_was_a_baseline() -> None:
    part = {"kind": "image_to_text", "ask": MATCHING, "instructions": "Match."}
    design = Design.from_stored(stored(parts=[part, part]))
    assert design.purpose == "baseline"
    assert design.knows_right
    assert [entry.kind for entry in design.parts] == ["image_to_text", "image_to_text"]


def test_what_an_older_design_says_is_kept() -> None:
    kept = stored(
        max_answers=5,
        purpose="pilot",
        dataset=False,
        instances={"from": "step-3", "sample": 7, "type": [], "subtype": [], "split": [], "keys": ["a"]},
        recruitment=stored()["recruitment"] | {"any_ids": False},
    )
    design = Design.from_stored(kept)
    assert (design.max_answers, design.purpose, design.dataset) == (5, "pilot", False)
    assert (design.instances.from_study, design.instances.sample, design.instances.keys) == ("step-3", 7, ("a",))
    assert design.recruitment.any_ids is False


def test_what_a_kind_has_learnt_to_be_asked_is_filled_in() -> None:
    design = Design.from_stored(stored(ask={"caption": "caption", "images": "candidate"}))
    assert design.parts[0].ask == {"caption": "caption", "images": "candidate", "becomes": "negative_image"}


@pytest.mark.parametrize(
    "text",
    [
        "study: a\ntitle: T\nkind: best_of_n\n",
        "study: a\ntitle: T\nparts: [{kind: image_to_text}, {kind: text_to_image}]\ninstances: {sample: 3}\n",
        "study: a\ntitle: T\nkind: ambiguity\ndataset: false\ninstances: {from: b, type: [x, y]}\n"
        'pay: {currency: EUR, per_session: "7"}\n'
        "practice: {pass: 1, questions: [{instance: k, right: both, feedback: Look.}]}\n",
    ],
)
def test_stored_and_read_again_a_design_is_the_same(text: str) -> None:
    design = read_design(text)
    written = json.dumps(design.to_stored())
    assert Design.from_stored(json.loads(written)) == design
    assert Design.from_stored(json.loads(written)).to_stored() == design.to_stored()


def test_the_version_before_finds_the_first_part_at_the_top() -> None:
    """So that a site can go back to it."""
    written = Design.from_stored(stored()).to_stored()
    assert (written["kind"], written["ask"], written["instructions"]) == ("best_of_n", ASK, "Pick one.")
    assert (written["instances"]["from"], written["practice"]["pass"], written["pay"]["per_session"]) == ("", 1, "4.50")


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"version": 6}, "The stored design is of version 6; this Lineup reads versions up to 5. Go back to"),
        ({"lottery": "all"}, "not one of version 5. `lottery`: Extra inputs are not permitted."),
        ({"eligibility": ["all"]}, "`eligibility.0`: Input should be"),
        ({"eligibility": [{"rule": "in_study"}]}, "`eligibility.0`: Value error, missing or unknown in in_study"),
        ({"surveys": {"size": 100}}, "`surveys.double_seats`: Field required."),
        ({"pay": "8.00"}, "`pay`: Input should be a valid dictionary"),
    ],
)
def test_a_design_that_cannot_be_understood_is_refused_not_guessed(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DesignRefused) as refused:
        Design.from_stored(stored(**changed))
    assert sentence in str(refused.value)


@pytest.mark.parametrize("name", ["answers", "parts", "version"])
def test_a_design_cannot_be_changed(name: str) -> None:
    design = Design.from_stored(stored())
    with pytest.raises(ValidationError, match="frozen"):
        setattr(design, name, getattr(design, name))
    assert not isinstance(design.parts[0].ask, MutableMapping)


@pytest.mark.parametrize(
    ("lines", "least"),
    [
        ("", 1),
        ("instances: {from: b, sample: 3}", 1),
        ("instances: {from: b}\nsurveys: {size: 30}", 30),
        ("instances: {from: b}\npay: {least_answers: 15}", 15),
    ],
)
def test_a_whole_session_has_a_full_survey_where_questions_come_from_another_study(lines: str, least: int) -> None:
    assert read_design(f"study: a\ntitle: T\nkind: ambiguity\n{lines}\n").pay.least_answers == least


def test_no_session_is_asked_for_more_answers_than_it_can_give() -> None:
    file = "study: a\ntitle: T\nkind: ambiguity\nsurveys: {size: 5}\npay:\n  least_answers: 6\n"
    with pytest.raises(DesignRefused, match=r"`pay\.least_answers` is 6, more than the questions") as refused:
        read_design(file)
    assert refused.value.problems[0].line == 6


def test_an_optional_entry_is_stored_only_where_the_file_says_it() -> None:
    """So that designs without it need no new version."""
    file = "study: a\ntitle: T\nkind: best_of_n\n"
    assert "ethics" not in read_design(file).to_stored()
    design = read_design(file + "consent: Agree?\nethics: Board of Vases, no. 2026/14\n")
    assert design.to_stored()["ethics"] == "Board of Vases, no. 2026/14"
    assert Design.from_stored(design.to_stored()) == design

"""Study files: what a good one becomes, and the sentence each bad one gets."""

import json
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings

from studies.design import DesignRefused, check_design, read_design, shortest_limit
from studies.design.model import Practice, SurveyLayout
from studies.design.schema import study_schema
from studies.kinds import KINDS, get_kind, usual_ask
from studies.rules import RULES, fitting_rules

ROOT = settings.BASE_DIR
SMALL = "study: best-vase\ntitle: Which vase?\nkind: best_of_n\n"


def test_the_smallest_file_gets_every_default() -> None:
    design = read_design(SMALL)
    assert design.parts[0].ask == {"caption": "negative_caption", "images": "candidate", "becomes": "negative_image"}
    assert design.surveys == SurveyLayout(size=100, double_seats=0)
    assert (design.answers, design.rule, design.seed) == (1, "chosen-v1", "best-vase")
    assert design.parts[0].instructions == get_kind("best_of_n").instructions
    assert design.practice == Practice(needed=0, rounds=2, questions=())
    assert design.recruitment.sessions_per_annotator == 1


@pytest.mark.parametrize(("estimated", "least"), [(10, 29), (20, 51), (30, 73), (60, 138)])
def test_the_shortest_limit_is_prolifics(estimated: int, least: int) -> None:
    # prolific.md 3.5: 28.3, 50.9, 73.0 (72.95) and 137.5 minutes, rounded up.
    assert shortest_limit(estimated) == least


def test_the_published_schema_is_the_one_in_use() -> None:
    published = json.loads((ROOT / "docs" / "study-file.schema.json").read_text(encoding="utf-8"))
    assert published == study_schema()


@pytest.mark.parametrize("file", sorted((ROOT / "studies" / "designs").glob("*.yaml")), ids=lambda file: file.name)
def test_every_shipped_study_file_can_be_used(file: Any) -> None:
    assert read_design(file.read_text(encoding="utf-8")).study == file.stem


def test_the_shipped_bivlc_file_asks_as_the_paper_did() -> None:
    design = read_design((ROOT / "studies" / "designs" / "bivlc-step-3.yaml").read_text(encoding="utf-8"))
    assert (design.parts[0].kind, design.answers, design.rule) == ("best_of_n", 1, "chosen-v1")
    assert design.surveys == SurveyLayout(size=100, double_seats=5)
    # 8 dollars for 40 minutes are 12 dollars an hour.
    assert (design.pay.per_session, design.time.estimated_minutes) == (Decimal("8.00"), 40)


# Both would be the one question of that kind about an instance.
TWICE = """\
study: best-vase
title: Which vase?
parts:
  - kind: best_of_n
    ask: {caption: negative_caption}
  - ask: {caption: caption}
    kind: best_of_n
"""
ONE_PART, TOO_MANY = ("study: a\ntitle: T\nparts:\n" + "- kind: check\n" * n for n in (1, len(KINDS) + 1))
MATCHING = SMALL.replace("best_of_n", "image_to_text")
BLIND = MATCHING + "conditions:\n  blind_solvability:\n    baselines: [{}]\n    at_most: {}\n"
QUALIFYING = (
    MATCHING + "purpose: qualification\nqualification:\n  group: retrievers\n  right: {right}\n  of: {of}\n  days: 90\n"
)
BAD_FILES = [
    ("", None, "The study file is empty."),
    ("- a\n- b\n", None, "must consist of `name: value` lines"),
    ("just words", None, "must consist of `name: value` lines"),
    ("title: T\nstudy: [unclosed", 2, "A bracket or brace is not closed: add the missing ] or } at its end."),
    ("study: {a: 1\nb: 2", 2, "a comma is missing, or the ] or } at the end."),
    ("study: a\n\tkind: b", 2, "A tab cannot indent a line. Use spaces."),
    ('title: "open\nx: 1', 1, "A quotation mark is not closed"),
    ("title: Look: here", 1, "Put quotation marks around a text with a colon"),
    ("title: @x", 1, "A text cannot begin with @. Put quotation marks around it."),
    ("title: *x", 1, "A text cannot begin with *. Put quotation marks around *x."),
    ("title: !x y", 1, "A text cannot begin with !. Put quotation marks around it."),
    ("title: 'it's'", 1, "The line does not fit those above."),
    ("title: a\x01", None, "a character that a study file cannot contain"),
    ("study: &a {b: *a}\n", 1, "contains itself"),
    ("title: T\nkind: best_of_n\n", None, "`study` is missing"),
    (SMALL + "study: again\n", 4, "`study` is given twice"),
    (SMALL.replace("best-vase", "Best Vase"), 1, "small letters, digits and single hyphens"),
    (SMALL.replace("best-vase", "a" * 51), 1, "longer than 50 characters"),
    (SMALL.replace("best-vase", "12"), 1, "must be text"),
    (SMALL.replace("best-vase", '"best-vase\\n"'), 1, "small letters, digits and single hyphens"),
    (SMALL.replace("Which vase?", '""'), 2, "`title` is empty"),
    (SMALL.replace("Which vase?", '"Which\\nvase?"'), 2, "`title` cannot be used. Its character 6 (U+000A)"),
    (SMALL.replace("Which vase?", '" Which vase?"'), 2, "`title` cannot be used. It begins or ends with a space."),
    (SMALL.replace("best_of_n", "best_of_m"), 3, f"Choose one of: {', '.join(KINDS)}."),
    (SMALL + "anwsers: 3\n", 4, "Did you mean `answers`?"),
    (SMALL + "answers: 0\n", 4, "must be at least 1"),
    (SMALL + "answers: many\n", 4, "must be a whole number"),
    (SMALL + "answers: 101\n", 4, "must be at most 100"),
    (SMALL + "ask:\n  capton: x\n", 5, "Did you mean `caption`?"),
    (SMALL + "ask: 5\n", 4, "must be a section"),
    (SMALL + "rule: chosen-v9\n", 4, f"Choose one of: {', '.join(RULES)}."),
    (SMALL + "surveys: {size: 0}\n", 4, "`surveys.size` is 0"),
    (SMALL + "pay: {per_session: 8}\n", 4, "must be text (put it in quotes)"),
    (SMALL + 'pay: {per_session: "8.5"}\n', 4, "Write an amount such as 8.00."),
    (SMALL + 'pay: {per_session: "8.00\\n"}\n', 4, "Write an amount such as 8.00."),
    (SMALL + "instances: {type: [add, add]}\n", 4, "names something twice"),
    (SMALL + "recruitment: {prolific: false, invite: false}\n", 4, "Nobody could take part"),
    (SMALL + "time: {estimated_minutes: 30, limit_minutes: 40}\n", 4, "no less than 73"),
    (SMALL + "practice: {pass: 1}\n", 4, "1 right answers of 0 questions"),
    (SMALL + "practice:\n  questions:\n    - instance: a\n", 6, "`right` is missing"),
    (
        SMALL + "practice:\n  questions:\n    - {instance: a, right: none}\n    - {instance: a, right: candidate-0}\n",
        7,
        "names the instance 'a",
    ),
    (SMALL + 'consent: "a\\0b"\n', 4, "cannot be stored"),
    (SMALL + 'instances: {keys: ["\\ud800"]}\n', 4, "cannot be stored"),
    (SMALL + f"consent: {'x' * 50_001}\n", 4, "`consent` is longer than 50000 characters."),
    (SMALL + f"instructions: {'x' * 50_001}\n", 4, "`instructions` is longer than 50000 characters."),
    (
        "a: &a [" + "x, " * 1000 + "]\nb: &b [" + "*a, " * 1000 + "]\nc: [" + "*b, " * 1000 + "]\n",
        1,
        "too many entries",
    ),
    ("a: " + "x" * 1_000_001, None, "larger than 1 MB"),
    (SMALL.replace("best_of_n", "[best_of_n]"), 3, f"Choose one of: {', '.join(KINDS)}."),
    ("study: a\ntitle: T\nparts: 5\n", 3, "must be a list"),
    (ONE_PART, 3, "`parts` has too few entries: 1, of at least 2."),
    (TOO_MANY, 3, f"`parts` has too many entries: {len(KINDS) + 1}, of at most {len(KINDS)}."),
    (SMALL + "? [a, b]\n: 2\n", 4, "must be a word"),
    (SMALL + "version: 0\n", 4, "must be at least 1"),
    (SMALL + 'version: "1"\n', 4, "must be a whole number"),
    (SMALL + "purpose: baseline\n", 4, "these questions have none"),
    (TWICE, 7, "Another part already has the kind best_of_n"),
    (MATCHING + "conditions: {blind_solvable: 0.6}\n", 4, "Did you mean `blind_solvability`?"),
    (MATCHING + "conditions:\n  blind_solvability:\n    at_most: 0.6\n", 5, "`baselines` is missing"),
    (BLIND.format("text-only:ngrams", "many"), 7, "must be a number"),
    (BLIND.format("text-only:ngrams", 60), 7, "must be at most 1"),
    (BLIND.format("open_clip:ViT-B-32/openai", 0.6), 6, "Write a blind baseline, such as text-only:ngrams"),
    (BLIND.format("text-only:ngrams, text-only:ngrams", 0.6), 6, "names something twice"),
    (BLIND.format("text-only:ngrams", 0.6).replace("image_to_text", "best_of_n"), 5, "The right answers to these"),
    (BLIND.format("text-only:ngrams", 0.6) + "instances: {from: before}\n", 5, "The questions come from another study"),
    (SMALL + "purpose: pilot\ndataset: true\n", 5, "accepts nothing"),
    (QUALIFYING.format(right=3, of=4).replace("image_to_text", "best_of_n"), 5, "so nobody could pass. Choose a kind"),
    (QUALIFYING.format(right=5, of=4), 7, "5 right answers of 4 are impossible. Lower `right`, or raise `of`."),
    # 50 instances in a survey, and at most 74 where 74 are selected: two questions about each.
    (QUALIFYING.format(right=3, of=149), 8, "`qualification.of` is 149, and one session has at most 148 questions"),
    (
        QUALIFYING.format(right=3, of=30) + "surveys:\n  size: 20\n",
        8,
        "`qualification.of` is 30, and one session has at most 28 questions",
    ),
    (QUALIFYING.format(right=3, of=4).replace("purpose: q", "purpose: pilot #"), 5, "this study is pilot. Write"),
    (SMALL + "ethics: Board of Vases, no. 7\n", 4, "Write `consent`, or leave `ethics` out."),
]


@pytest.mark.parametrize(("text", "line", "sentence"), BAD_FILES, ids=range(len(BAD_FILES)))
def test_a_bad_study_file_is_refused_with_its_line(text: str, line: int | None, sentence: str) -> None:
    with pytest.raises(DesignRefused) as refused:
        read_design(text)
    found = [problem for problem in refused.value.problems if sentence in problem.message]
    assert len(found) == 1, refused.value.problems
    assert found[0].line == line


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(DesignRefused) as refused:
        read_design("study: B B\ntitel: T\nkind: best_of_n\nanswers: 0\n")
    assert len(refused.value.problems) == 4


def test_a_file_of_a_later_version_is_told_so_and_nothing_else() -> None:
    """Its other lines may be right in that version."""
    with pytest.raises(DesignRefused) as refused:
        read_design(SMALL + "lottery: {group: one}\nversion: 6\n")
    (problem,) = refused.value.problems
    assert problem.line == 5
    assert problem.message.startswith("The study file is of version 6; this Lineup reads versions up to 5.")


def test_a_file_may_say_its_version_and_a_date_is_read_as_text() -> None:
    assert read_design(SMALL + "version: 1\n") == read_design(SMALL)
    assert read_design(SMALL + "seed: 2026-11-20\n").seed == "2026-11-20"


def test_plain_values_are_checked_as_a_file_is() -> None:
    values: dict[str, Any] = {"study": "best-vase", "title": "Which vase?", "kind": "best_of_n"}
    assert check_design(values) == read_design(SMALL)
    assert values == {"study": "best-vase", "title": "Which vase?", "kind": "best_of_n"}


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"answers": 0}, "`answers` is 0; it must be at least 1."),
        ({"anwsers": 3}, "`anwsers` is not known here. Did you mean `answers`?"),
        ({"consent": "a\0b"}, "The text has a NUL or half a character, which cannot be stored. Remove it."),
        ({"ask": {"capton\ud800": "x"}}, "The text has a NUL or half a character, which cannot be stored. Remove it."),
        ({"version": 6}, "The study file is of version 6; this Lineup reads versions up to 5."),
    ],
)
def test_problems_of_plain_values_have_no_line(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DesignRefused) as refused:
        check_design({"study": "best-vase", "title": "Which vase?", "kind": "best_of_n", **changed})
    (problem,) = refused.value.problems
    assert problem.line is None
    assert sentence in str(problem)


def test_a_study_in_another_language_brings_its_own_instructions() -> None:
    with pytest.raises(DesignRefused) as refused:
        read_design(SMALL + "language: eu\n")
    (problem,) = refused.value.problems
    assert problem.line == 3
    assert problem.message.startswith("The study's `language` is eu, but the default instructions of best_of_n")
    assert read_design(SMALL + "language: eu\ninstructions: Aukeratu irudia.\n").language == "eu"
    assert read_design(SMALL + "language: en-GB\n").language == "en-GB"


def refused_rule(kind: str, rule: str, more: str = "") -> str:
    with pytest.raises(DesignRefused) as refused:
        read_design(f"study: s\ntitle: S\nkind: {kind}\nrule: {rule}\n{more}")
    return str(refused.value)


def test_a_rule_that_accepts_by_an_option_that_rejects_is_refused_with_those_that_fit() -> None:
    said = refused_rule("ambiguity", "majority-v1")
    assert "Line 4: Rule majority-v1 does not fit ambiguity: it would accept an instance by the answer both, " in said
    kind = get_kind("ambiguity")
    fit = fitting_rules(kind, usual_ask(kind))
    assert said.endswith(f"which rejects it in ambiguity. Use {' or '.join(fit)}.")
    assert {"unambiguous-v1", "majority-v2"} <= set(fit) < set(RULES)
    for rule in fit:
        assert read_design(f"study: s\ntitle: S\nkind: ambiguity\nrule: {rule}\n").rule == rule


@pytest.mark.parametrize("kind", [name for name in KINDS if name != "describe"])
def test_a_rule_about_what_becomes_of_answers_is_refused_where_no_study_can_ask_about_them(kind: str) -> None:
    assert f"no study can ask about answers of {kind}." in refused_rule(kind, "described-v1")

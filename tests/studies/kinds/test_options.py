"""What a study file may say of each kind: what is refused, and which rule and purpose it has by itself."""

import pytest

from studies.design import DesignRefused, read_design


@pytest.mark.parametrize(
    ("kind", "ask", "sentence"),
    [
        ("describe", "{targets: 0}", "targets"),
        ("describe", "{targets: 11}", "targets"),
        ("describe", "{min_characters: 0}", "min_characters"),
        ("describe", "{min_characters: 100, max_characters: 99}", "exceeds its maximum length"),
        ("describe", "{images: ''}", "images"),
        ("compare", "{images: [a, b, c, d, e, f, g], at_once: 3}", "There are 35 combinations of 3 images"),
        ("compare", "{images: []}", "images"),
        ("compare", "{at_once: 5}", "at most 4"),
        ("compare", "{criteria: []}", "criteria"),
        ("compare", "{criteria: [nice, nice]}", "names something twice"),
        ("compare", "{ties: maybe}", "must be true or false"),
        ("check", "{captions: []}", "There are no statements about the image"),
        ("check", "{captions: [a, a]}", "names something twice"),
        ("check", "{captions: [rain], statements: [rain]}", "the name of a caption's role"),
        ("check", "{statements: ['']}", "is empty"),
        ("check", f"{{statements: {[str(number) for number in range(20)]}}}", "There are 21 statements"),
        ("rating", "{steps: 1}", "it must be at least 2"),
        ("rating", "{steps: 11}", "it must be at most 10"),
        ("rating", "{lowest: '2'}", "which is the number of another step"),
        ("rating", "{lowest: best, highest: best}", "the two need different names"),
        ("rating", "{caption: ''}", "two images are compared"),
        ("rating", "{colour: red}", "`colour` is not known here"),
        ("rating", "{images: 3}", "must be a list"),
    ],
)
def test_what_cannot_be_asked_is_refused_when_the_study_is_made(kind: str, ask: str, sentence: str) -> None:
    with pytest.raises(DesignRefused) as refused:
        read_design(f"study: a\ntitle: A\nkind: {kind}\nask: {ask}\n")
    (problem,) = refused.value.problems
    assert sentence in problem.message
    assert problem.line == 4


@pytest.mark.parametrize(
    ("kind", "more", "sentence"),
    [
        ("compare", "rule: majority-v1", r"Use collected-v1\."),
        ("rating", "rule: chosen-v1", "needs the option none, which rating does not offer"),
        ("rating", "rule: unambiguous-v1", "needs the option original"),
        ("check", "practice: {questions: [{instance: a, right: 'true'}]}", "answers to check are not one option each"),
    ],
)
def test_what_does_not_fit_a_kind_is_refused(kind: str, more: str, sentence: str) -> None:
    with pytest.raises(DesignRefused, match=sentence):
        read_design(f"study: a\ntitle: A\nkind: {kind}\n{more}\n")


@pytest.mark.parametrize(
    ("kind", "more", "rule", "purpose"),
    [
        *((kind, "", "collected-v1", "collection") for kind in ("describe", "compare", "check", "rating")),
        ("rating", "rule: majority-v1", "majority-v1", "collection"),
        ("retrieve", "", "retrieved-1-of-1-v1", "filter"),
        ("retrieve", "purpose: baseline", "retrieved-1-of-1-v1", "baseline"),
    ],
)
def test_a_kind_brings_its_rule_and_its_purpose(kind: str, more: str, rule: str, purpose: str) -> None:
    design = read_design(f"study: a\ntitle: A\nkind: {kind}\n{more}\n")
    assert (design.rule, design.purpose) == (rule, purpose)

"""Contract tests for every question kind, without a database."""

import json
import random
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.conf import settings

from studies.design import read_design
from studies.kinds import (
    KINDS,
    NotAnAnswer,
    content_hash,
    get_kind,
    last_keys,
    matches,
    posted_values,
    shown_order,
    usual_ask,
)
from studies.kinds.base import AsksAboutAnswers, Kind, NewQuestion, digits_of
from studies.rules import fitting_rules
from tests.config.translations import ROOT, read_po
from tests.contracts.stage import NAMES, SECRET, file_of, secret_ask, some_facts

every_kind = pytest.mark.parametrize("name", NAMES)


def asked(name: str, *, seed: str = "seed", number: int = 1) -> tuple[Kind, list[NewQuestion]]:
    kind = get_kind(name)
    ask = secret_ask(kind)
    return kind, list(kind.questions(some_facts(kind, ask, number=number), ask, seed=seed))


@every_kind
def test_it_goes_by_its_name_and_tells_people_what_to_do(name: str) -> None:
    kind = get_kind(name)
    assert kind.name == name
    assert len(kind.instructions) > 100
    assert kind.title[0].isupper()
    assert kind.about.endswith(".")
    assert kind.needs


@every_kind
def test_its_schema_is_one_and_takes_its_own_defaults(name: str) -> None:
    kind = get_kind(name)
    jsonschema.Draft202012Validator.check_schema(dict(kind.ask_schema))
    jsonschema.validate(usual_ask(kind), dict(kind.ask_schema))
    assert all(
        "default" in part and part["description"].endswith(".") for part in kind.ask_schema["properties"].values()
    )
    assert list(kind.problems(usual_ask(kind))) == []


@every_kind
def test_a_study_file_that_names_only_it_is_enough(name: str) -> None:
    design = read_design(f"study: things\ntitle: Things\nkind: {name}\n")
    assert design.rule == get_kind(name).rule
    assert design.parts[0].ask == usual_ask(get_kind(name))


@every_kind
def test_its_own_rule_fits_it(name: str) -> None:
    kind = get_kind(name)
    assert fitting_rules(kind, usual_ask(kind))[0] == kind.rule


@every_kind
def test_the_same_instance_and_seed_give_the_same_questions_at_most_one_per_variant(name: str) -> None:
    kind, first = asked(name)
    _, again = asked(name)
    assert first == again
    assert first
    variants = kind.variants(secret_ask(kind))
    assert len({built.variant for built in first}) == len(first) <= len(variants)


@every_kind
def test_every_question_has_options_of_its_own_names_and_keys(name: str) -> None:
    kind, questions = asked(name)
    for built in questions:
        options = kind.options(built.content)
        keys = [option.key for option in options]
        assert len(set(keys)) == len(keys)
        assert kind.common_options(secret_ask(kind)) <= set(keys)
        fixed = [option for option in options if not option.shuffled]
        assert all(option.label for option in fixed)
        # What an option that always comes last posts must not be the place of another one.
        assert not {option.key for option in fixed} & {str(index) for index in range(1, len(keys) - len(fixed) + 1)}
        digits = digits_of(options)
        assert len(digits) == len(options)
        assert all(option.digit in digits for option in fixed)
        # The first nine are chosen by their places, whatever comes last.
        assert all(digits[: min(9, len(keys) - len(fixed))])
        chosen = [digit for digit in digits if digit]
        assert len(set(chosen)) == len(chosen), "two options have the same key of the keyboard"
        assert all(re.fullmatch("[0-9]", digit) for digit in chosen)


@every_kind
def test_the_right_answer_is_an_option_and_known_as_the_kind_says(name: str) -> None:
    kind, questions = asked(name)
    ask = secret_ask(kind)
    assert any(built.right for built in questions) == kind.knows_right(ask)
    for built in questions:
        decided = kind.right_option(ask, built.variant)
        assert decided in ("", built.right)
        # A right answer of another shape is the score's business.
        if isinstance(built.right, str) and kind.has_one_label:
            assert built.right == "" or built.right in kind.categories(built.content)
        json.dumps(built.right)


@every_kind
def test_an_answer_has_a_score_from_0_to_1_and_the_right_one_is_among_the_best(name: str) -> None:
    kind, questions = asked(name)
    dice = random.Random(2)
    for built in questions:
        if built.right == "":
            continue
        order = shown_order(kind, built.content, seed="s", annotator=1, question=1)
        answers = [
            kind.parse(built.content, order, kind.simulate(built.content, order, dice=dice, label=label))
            for label in [*kind.categories(built.content), *[""] * 200]
        ]
        # A right answer may be of another shape than an answer; then one that is made up must be right.
        with suppress(NotAnAnswer, AttributeError, LookupError, TypeError, ValueError):
            posted = kind.form_data(built.content, order, built.right)
            answers.append(kind.parse(built.content, order, posted))
        scores = [kind.score(built.content, built.right, answer) for answer in answers]
        known = [score for score in scores if score is not None]
        assert known
        assert all(0 <= score <= 1 for score in known)
        # Simulated annotators answer rightly and wrongly as often as they are told to.
        assert min(known) < 1
        assert max(known) == pytest.approx(1)
        by_model = kind.predict_answer(built.content, dict.fromkeys(matches(kind, built.content), 0.5))
        assert (
            by_model is None
            or kind.parse(built.content, order, kind.form_data(built.content, order, by_model.value)) == by_model
        )


@every_kind
def test_its_measures_of_agreement_are_1_for_equal_answers_or_have_a_reason(name: str) -> None:
    kind, questions = asked(name)
    measures = kind.measures()
    assert len({measure.name for measure in measures}) == len(measures)
    dice = random.Random(3)
    for built in questions:
        order = shown_order(kind, built.content, seed="s", annotator=1, question=1)
        for measure in measures:
            for _ in range(20):
                value = kind.parse(built.content, order, kind.simulate(built.content, order, dice=dice)).value
                found = measure.of_question(built.content, [value] * 3)
                assert (found.value is None) == bool(found.reason)
                assert found.value is None or found.value == pytest.approx(1)


@every_kind
def test_an_order_is_the_same_for_the_same_seed_and_leaves_nothing_out(name: str) -> None:
    kind, questions = asked(name)
    for built in questions:
        keys = [option.key for option in kind.options(built.content)]
        pictures = [picture for picture in kind.question_content(built.content).pictures if picture.key]
        whole = [shown_order(kind, built.content, seed="s", annotator=annotator, question=7) for annotator in range(60)]
        assert whole[0] == shown_order(kind, built.content, seed="s", annotator=0, question=7)
        assert all(sorted(order[: len(pictures)]) == sorted(picture.key for picture in pictures) for order in whole)
        moved = len(pictures) > 1 and not kind.fixed_order(built.content)
        assert len({tuple(order[: len(pictures)]) for order in whole}) > (1 if moved else 0)
        orders = [order[len(pictures) :] for order in whole]
        assert all(sorted(order) == sorted(keys) for order in orders)
        last = last_keys(kind, built.content)
        assert all(order[len(order) - len(last) :] == last for order in orders)
        shuffled = len(keys) - len(last)
        differ = shuffled > 1 and not kind.fixed_order(built.content)
        assert len({tuple(order) for order in orders}) > (1 if differ else 0) or not keys
        # Shuffled options post their place, so that what is posted says nothing of which option it is.
        assert {tuple(posted_values(kind, built.content, order)) for order in whole} == {
            (*map(str, range(1, shuffled + 1)), *last)
        }


@every_kind
def test_what_it_makes_up_is_read_as_an_answer_with_that_label(name: str) -> None:
    kind, questions = asked(name)
    dice = random.Random(1)
    for built in questions:
        order = shown_order(kind, built.content, seed="s", annotator=1, question=1)
        categories = kind.categories(built.content)
        for label in [*categories, *[""] * 5]:
            posted = kind.simulate(built.content, order, dice=dice, label=label)
            answer = kind.parse(built.content, order, posted)
            assert kind.form_data(built.content, order, answer.value) == posted
            labels = kind.labels(built.content, answer.label, answer.value)
            assert set(labels.values()) <= set(categories)
            if kind.has_one_label:
                assert labels == {"": answer.label}
                assert answer.label in categories
                assert label in ("", answer.label)
            else:
                assert answer.label == ""


@every_kind
@pytest.mark.parametrize("posted", [{}, {"choice": ""}, {"choice": "zqxjkv"}, {"choice": "\0"}, {"zqxjkv": "1"}])
def test_what_is_no_answer_gets_a_sentence(name: str, posted: dict[str, str]) -> None:
    kind, questions = asked(name)
    for built in questions:
        with pytest.raises(NotAnAnswer, match=r"\.$"):
            kind.parse(built.content, shown_order(kind, built.content, seed="s", annotator=1, question=1), posted)


@every_kind
def test_its_scale_and_its_collapses_have_a_place_for_every_label(name: str) -> None:
    kind, questions = asked(name)
    for built in questions:
        categories, scale = kind.categories(built.content), kind.scale(built.content)
        assert len(set(categories)) == len(categories)
        if kind.has_one_label:
            assert list(categories) == [option.key for option in kind.options(built.content)]
        for collapse in kind.label_groupings(built.content):
            assert {collapse.label(label) for label in categories} <= set(collapse.categories)
            assert len(collapse.categories) >= 2
        of_units = kind.unit_scales(built.content)
        assert all(each.labels and set(each.labels) <= set(categories) for each in of_units.values())
        assert not (of_units and kind.has_one_label)
        if scale.level != "nominal":
            assert len(categories) >= 2
            # What stands at random may be ranked, but its ranks may not.
            shuffled = {option.key for option in kind.options(built.content) if option.shuffled}
            assert kind.fixed_order(built.content) or not shuffled & set(categories), "steps keep their order"
        if scale.level == "interval":
            assert set(scale.values) == set(categories)
            assert sorted(scale.values.values()) == [scale.values[label] for label in categories]


@every_kind
def test_an_accepted_answer_adds_to_the_roles_that_it_says(name: str) -> None:
    kind, questions = asked(name)
    ask = secret_ask(kind)
    for built in questions:
        for label in kind.categories(built.content) if kind.adds_roles(ask).all() else []:
            if label not in last_keys(kind, built.content):
                assert set(kind.adds(built.content, label)) == kind.adds_roles(ask).all()
        # A rule that only collects accepts without a winner.
        assert not kind.adds(built.content, "")


@every_kind
def test_its_questions_show_only_what_its_roles_hold(name: str) -> None:
    kind, questions = asked(name)
    known = some_facts(kind, secret_ask(kind))
    shas = {image.sha256 for images in known.images.values() for image in images}
    for built in questions:
        shown, options = kind.question_content(built.content), kind.options(built.content)
        pictures = [*shown.pictures, *(option.picture for option in options if option.picture)]
        assert {picture.sha256 for picture in pictures} <= shas
        said = " ".join([*(text.text for text in shown.texts), *(option.label + option.text for option in options)])
        assert SECRET not in said
        assert pictures or said


@every_kind
def test_without_its_source_a_question_says_nothing_of_it_and_has_the_same_options(name: str) -> None:
    kind, questions = asked(name)
    said = [value for value in some_facts(kind, secret_ask(kind)).source.values() if isinstance(value, str)]
    assert bool(said) == kind.asks_about_answers == isinstance(kind, AsksAboutAnswers)
    for built in questions:
        left = kind.redact(built.content) if isinstance(kind, AsksAboutAnswers) else built.content
        assert all(text in str(built.content) and text not in str(left) for text in said)
        assert kind.options(left) == kind.options(built.content)
        kind.question_content(left)


@pytest.mark.parametrize("name", KINDS)
def test_its_template_is_there_and_runs_nothing_itself(name: str) -> None:
    source = Path(settings.BASE_DIR, "templates", "kinds", f"{name}.html").read_text(encoding="utf-8")
    assert not re.search(r"<script|<style|\son\w+=|\sstyle=", source)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("language", [code for code, _ in settings.LANGUAGES if code != "en"])
def test_what_it_says_to_annotators_is_there_in_every_language(name: str, language: str) -> None:
    translated = {entry.singular for entry in read_po(ROOT / "locale" / language / "LC_MESSAGES" / "django.po")}
    kind, questions = asked(name)
    for built in questions:
        brought = [option.label for option in kind.options(built.content) if option.label and not option.is_own_words]
        assert set(brought) <= translated
        with pytest.raises(NotAnAnswer) as refused:
            kind.parse(built.content, shown_order(kind, built.content, seed="s", annotator=1, question=1), {})
        assert str(refused.value) in translated


@every_kind
def test_a_study_of_it_is_read_as_it_is_written(name: str) -> None:
    kind = get_kind(name)
    ask = secret_ask(kind)
    design = read_design(file_of(kind, ask))
    assert design.parts[0].kind == name
    assert design.parts[0].ask == ask


@every_kind
def test_what_it_shows_has_a_hash_that_no_order_changes_and_every_picture_and_text_does(name: str) -> None:
    kind, questions = asked(name)
    _, others = asked(name, number=2)
    hashes = [content_hash(kind, built.content) for built in questions]
    assert all(re.fullmatch(r"[0-9a-f]{64}", each) for each in hashes)
    # Of one instance and of another: other texts, other pictures.
    assert not set(hashes) & {content_hash(kind, built.content) for built in others}
    for built, known in zip(questions, hashes, strict=True):
        # As a database may hand its entries back.
        assert content_hash(kind, dict(reversed(built.content.items()))) == known
        for shown in sorted(shas_in(built.content)):
            changed = json.loads(json.dumps(built.content).replace(shown, "f" * 64))
            assert content_hash(kind, changed) != known


def shas_in(content: dict[str, Any]) -> set[str]:
    return set(re.findall(r"[0-9a-f]{64}", json.dumps(content)))


@every_kind
def test_what_models_are_asked_is_about_its_own_options_pictures_and_texts(name: str) -> None:
    kind, questions = asked(name)
    for built in questions:
        found = matches(kind, built.content)
        assert found.keys() <= {option.key for option in kind.model_options(built.content)}
        assert {match.picture for match in found.values()} <= shas_in(built.content)
        whole = json.dumps(built.content, ensure_ascii=False)
        assert all(match.text and match.text in whole for match in found.values())

"""What made-up annotators answer, held against what the paper published."""

from collections import Counter
from pathlib import Path

import pytest

from simulation.replay import published_numbers
from simulation.replay.script import (
    CannotReplay,
    Outcome,
    baseline_mistakes,
    choose_outcomes,
    pair_answers,
    read_accepted,
    step_3_answer,
    step_4_answer,
)
from tests.analytics.published import shared_file, shared_json


def kappa_by_hand(first: list[bool], second: list[bool]) -> float:
    n = len(first)
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    by_chance = (sum(first) * sum(second) + (n - sum(first)) * (n - sum(second))) / n**2
    return (observed - by_chance) / (1 - by_chance)


def settled_by(chosen: int) -> dict[str, str]:
    return {str(number): "candidate-1" if number < chosen else "none" for number in range(100)}


@pytest.mark.parametrize("kappa", published_numbers.PAIR_KAPPAS)
@pytest.mark.parametrize("chosen", [35, 44, 51])
def test_a_pair_answers_a_hundred_questions_with_the_published_kappa_and_agrees_on_what_stands_in_the_end(
    kappa: float, chosen: int
) -> None:
    settled = settled_by(chosen)
    first, second = pair_answers(settled, kappa=kappa, seed="a seed")
    chosen_by = ([answers[key] != "none" for key in settled] for answers in (first, second))
    assert round(kappa_by_hand(*chosen_by), 2) == kappa
    agreed = [key for key in settled if first[key] == second[key]]
    assert len(agreed) > 50
    assert all(first[key] == settled[key] for key in agreed)
    both = [key for key in settled if "none" not in (first[key], second[key])]
    # Every fourth of what both chose an image for.
    assert sum(first[key] != second[key] for key in both) == -(-len(both) // 4)


def test_the_same_seed_is_the_same_pair_and_another_seed_another() -> None:
    one, same, other = (pair_answers(settled_by(40), kappa=0.43, seed=seed) for seed in "aab")
    assert one == same != other


def test_of_500_instances_452_have_both_texts_right_465_both_images_and_434_all_four() -> None:
    keys = [str(number) for number in range(500)]
    mistakes = baseline_mistakes(keys, seed="a seed")
    kinds = [{kind for kind, _ in mistakes[key]} for key in keys]
    assert sum("image_to_text" not in wrong for wrong in kinds) == 452
    assert sum("text_to_image" not in wrong for wrong in kinds) == 465
    assert sum(not wrong for wrong in kinds) == 434


@pytest.mark.parametrize("n", [1, 4, 8, 33])
def test_a_smaller_baseline_comes_as_near_as_can_be(n: int) -> None:
    mistakes = baseline_mistakes([str(number) for number in range(n)], seed="a seed")
    wrong = sum(any(kind == "image_to_text" for kind, _ in asked) for asked in mistakes.values())
    assert n - wrong == round(n * 0.904)


def test_one_instance_is_taken_away_in_step_4_for_every_seven_that_are_kept_in_its_category() -> None:
    categories = {f"a{number}": ("add", "obj") for number in range(40)}
    categories |= {f"s{number}": ("swap", "att") for number in range(16)}
    released = {f"a{number}" for number in range(21)} | {f"s{number}" for number in range(15)}
    found = Counter(
        (categories[key], outcome) for key, outcome in choose_outcomes(categories, released, seed="s").items()
    )
    assert found == {
        (("add", "obj"), Outcome.RELEASED): 21,
        (("add", "obj"), Outcome.AMBIGUOUS): 3,
        (("add", "obj"), Outcome.NO_IMAGE): 16,
        # 15 // 7 is 2, but only one is left.
        (("swap", "att"), Outcome.RELEASED): 15,
        (("swap", "att"), Outcome.AMBIGUOUS): 1,
    }


def test_only_what_ends_without_an_image_gets_none_in_step_3_and_only_the_ambiguous_lose_the_original() -> None:
    assert step_3_answer("1", Outcome.NO_IMAGE, seed="s") == "none"
    assert step_3_answer("1", Outcome.AMBIGUOUS, seed="s").startswith("candidate-")
    assert step_4_answer("1", Outcome.RELEASED, seed="s") == "original"
    assert {step_4_answer(str(key), Outcome.AMBIGUOUS, seed="s") for key in range(20)} == {"both", "generated"}


def test_the_published_counts_are_those_of_the_paper_as_the_data_recounts_them() -> None:
    counts = shared_json("metrics.json")["bivlc_table1"]
    total = counts.pop("total")
    found = {"_".join(category): examples for category, examples in published_numbers.RETRIEVAL_EXAMPLES.items()}
    assert found == {category: entry["published"] for category, entry in counts.items()}
    assert total["manifest"] == published_numbers.MANIFEST_ROWS


def test_the_real_accepted_file_releases_2933_of_7512_rows_each_in_a_place_of_its_own() -> None:
    rows = read_accepted(shared_file("bivlc/accepted.csv"))
    assert len(rows) == 7512
    assert sorted(row for row in rows.values() if row is not None) == list(range(2933))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "cannot be read"),
        ("index,accepted\n1,true\n", "lacks the columns release_row"),
        *(
            (f"index,accepted,release_row\n{row}\n", r"Record 1 of accepted\.csv")
            for row in ("1,maybe,0", "1,true,", "1,true,first")
        ),
    ],
)
def test_an_accepted_file_that_does_not_say_what_was_released_is_refused(
    text: str | None, sentence: str, tmp_path: Path
) -> None:
    file = tmp_path / "accepted.csv"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(CannotReplay, match=sentence):
        read_accepted(file)

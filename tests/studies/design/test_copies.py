"""Study files written by Lineup: a copy keeps what was written by hand, and asks the same whatever happens."""

import pytest

from studies.design import Design, copy_source, read_design
from studies.design.copies import write_study_file

NAMES = {"study": "b", "title": "T", "seed": "b"}
BY_HAND = """\
# The pilot of March.
title: "Which vase?"   # annotators read this
study: best-vase
kind: best_of_n

# Three, as in the paper.
answers: 3
"""


def test_a_copy_keeps_the_comments_and_the_order_and_is_dealt_anew_unless_its_file_names_a_seed() -> None:
    copy = copy_source(BY_HAND, read_design(BY_HAND), study="best-vase-2", title="Which vase: again?")
    retitled = BY_HAND.replace('"Which vase?"', "'Which vase: again?'")
    assert copy == retitled.replace("study: best-vase", "study: best-vase-2")
    assert read_design(copy).seed == "best-vase-2"
    seeded = BY_HAND + "seed: best-vase\n"
    assert read_design(copy_source(seeded, read_design(seeded), study="b", title="T")).seed == "best-vase"


@pytest.mark.parametrize(
    "source",
    [
        "{study: best-vase, title: Which vase, kind: best_of_n, answers: 3}",
        "study: &name best-vase\ntitle: *name\nkind: best_of_n\nanswers: 3\n",
        "title: >-\n  Which\n  vase?\nstudy: |-\n  best-vase\nkind: best_of_n\nanswers: 3\n",
        "\ufeffstudy: best-vase\ntitle: Which vase?\nkind: best_of_n\nanswers: 3\n",
        "study: best-vase\r\ntitle: Which vase?\r\nkind: best_of_n\r\nanswers: 3\r\n",
    ],
)
@pytest.mark.parametrize("title", ["Which, then?", "12", "- a: [b", "¿Cuál? 🏺", '"', "null"])
def test_a_copy_asks_the_same_however_the_file_is_written(source: str, title: str) -> None:
    design = read_design(source)
    copy = read_design(copy_source(source, design, study="best-vase-2", title=title))
    assert copy == design.model_copy(update={"study": "best-vase-2", "title": title, "seed": "best-vase-2"})


@pytest.mark.parametrize(
    "written_as",
    [
        "instances: {from: step-3, type: [add], sample: 10}\n",
        "instances:\n  from: step-3  # what it kept\n  subtype:\n  - obj\n  split: [val]\n",
    ],
)
def test_a_copy_about_some_instances_names_them_and_nothing_else(written_as: str) -> None:
    source = BY_HAND.replace("\n\n#", f"\n{written_as}\n#")
    copy = copy_source(source, read_design(source), study="b", title="T", keys=["vase/1", "12", "null", "a: b"])
    design = read_design(copy)
    assert (design.instances.from_study, design.instances.keys) == ("step-3", ("vase/1", "12", "null", "a: b"))
    assert (design.instances.sample, design.instances.type, design.instances.subtype) == (None, (), ())
    assert design.instances.split == ()
    assert copy.startswith("# The pilot of March.\ntitle: T   # annotators read this\nstudy: b\n")
    assert "# Three, as in the paper.\nanswers: 3\n" in copy


@pytest.mark.parametrize("source", [BY_HAND, BY_HAND.rstrip(), "{study: best-vase, title: W, kind: best_of_n}"])
def test_a_copy_of_a_file_that_selects_nothing_can_name_instances_too(source: str) -> None:
    copy = read_design(copy_source(source, read_design(source), study="b", title="T", keys=["vase-1"]))
    original = read_design(source)
    only = original.instances.model_copy(update={"keys": ("vase-1",)})
    assert copy == original.model_copy(update=NAMES | {"instances": only})


@pytest.mark.parametrize("source", [BY_HAND, "study: birds\n", "", "[", "- a\n"])
def test_a_file_that_says_something_else_or_nothing_by_now_is_written_anew(source: str) -> None:
    """Ids of any form were let in before there was a line about it."""
    design = read_design(BY_HAND)
    before = design.model_copy(update={"recruitment": design.recruitment.model_copy(update={"any_ids": True})})
    copy = copy_source(source, before, study="b", title="T")
    assert read_design(copy) == before.model_copy(update=NAMES)
    assert copy.startswith("# Written by Lineup")


@pytest.mark.parametrize(
    "source",
    [
        BY_HAND,
        "study: a\ntitle: T\nparts: [{kind: image_to_text}, {kind: text_to_image}]\ninstances: {sample: 3}\n",
        "study: a\ntitle: T\nkind: ambiguity\ndataset: false\ninstances: {from: b, type: [x, 'y: z']}\n"
        'pay: {currency: EUR, per_session: "7"}\nconsent: "One\\n\\n  two  \\n"\n'
        "practice: {pass: 1, questions: [{instance: k, right: both, feedback: Look.}]}\n",
        "study: a\ntitle: T\nkind: image_to_text\n"
        "conditions: {blind_solvability: {baselines: ['text-only:ngrams'], at_most: 0.6}}\n",
    ],
)
def test_a_design_that_is_written_out_is_read_as_it_was(source: str) -> None:
    design: Design = read_design(source)
    assert read_design(write_study_file(design)) == design

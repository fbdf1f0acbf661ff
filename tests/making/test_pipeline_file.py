"""What a pipeline file may say, and what its problems are called."""

from pathlib import Path

import pytest

from making.filters import FILTERS
from making.filters.length import Length
from making.pipeline_file import PipelineFile, read_pipeline
from studies.design import DesignRefused
from tests.making.actions.test_human_stages import FILE as ASKING

STAGE = "  - name: swapped\n    make: words:swap\n"
IMAGES = (
    "name: four\nstart: {role: caption}\nstages:\n  - name: pictures\n    make: diffusers:sdxl\n"
    "    options: {checker: none}\n"
)
OF_START = "captions: {c: start}, images: {i: pictures}"
SMALL = f"name: swaps\nstart: {{role: caption}}\nstages:\n{STAGE}"


def problems_of(text: str) -> list[str]:
    with pytest.raises(DesignRefused) as refused:
        read_pipeline(text)
    return [str(problem) for problem in refused.value.problems]


def test_a_small_file_has_defaults() -> None:
    pipeline = read_pipeline(SMALL)
    (stage,) = pipeline.stages
    assert (pipeline.name, pipeline.seed, pipeline.start.role, pipeline.instances) == ("swaps", 0, "caption", None)
    assert (stage.of, stage.count, stage.policy, stage.filters) == ("start", 1, "swap", [])
    assert stage.maker.model_dump()["tagger"] == "hanta"


def test_filters_are_read_with_their_options_in_the_order_of_the_file() -> None:
    listed = "    filters:\n      - {filter: length, at_least: 3}\n      - filter: duplicates\n"
    (stage,) = read_pipeline(SMALL + listed).stages
    assert [name for name, _ in stage.checked_filters] == ["length", "duplicates"]
    assert stage.checked_filters[0][1] == Length(at_least=3)


def test_a_filter_that_is_there_twice_has_two_names() -> None:
    listed = "    filters: [{filter: length, at_most: 9}, {filter: duplicates}, {filter: length, at_least: 2}]\n"
    (stage,) = read_pipeline(SMALL + listed).stages
    assert [name for name, _ in stage.checked_filters] == ["length", "duplicates", "length-2"]


def test_filters_of_models_and_all_that_follow_are_waited_for() -> None:
    toxic = "{filter: toxicity, model: 'classifier:some'}"
    (stage,) = read_pipeline(f"{SMALL}    filters: [{{filter: length}}, {toxic}, {{filter: duplicates}}]\n").stages
    assert [name for name, _ in stage.first_filters] == ["length"]
    assert list(stage.later_filters) == [2, 3]
    (without,) = read_pipeline(f"{SMALL}    filters: [filter: length]\n").stages
    assert list(without.later_filters) == []


def test_stages_run_after_those_that_they_make_candidates_from() -> None:
    text = (
        "name: chain\nstart: {role: caption}\nstages:\n"
        "  - {name: third, make: 'words:swap', of: second}\n"
        "  - {name: second, make: 'words:swap-nouns', of: first}\n"
        "  - {name: first, make: 'words:swap-verbs'}\n"
    )
    pipeline = read_pipeline(text)
    assert [stage.name for stage in pipeline.ordered_stages] == ["first", "second", "third"]
    assert pipeline.line_of("third") == ["third", "second", "first", "start"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["The pipeline file is empty."]),
        ("- a", ["The pipeline file must consist of `name: value` lines; see docs/making.md."]),
        ("name: [", ["Line 1: A bracket or brace is not closed: add the missing ] or } at its end."]),
        (
            SMALL.replace("swaps", "Word Swaps"),
            ["Line 1: `name` is 'Word Swaps'. Write at most 50 lower-case letters, digits and -."],
        ),
        (SMALL.replace("start: {role: caption}\n", ""), ["`start` is missing in the pipeline file."]),
        (
            f"{SMALL}device: {{currency: dollars, hour: 2.5}}\n",
            ["Line 6: `device.currency` is 'dollars'. Write three capital letters, such as USD."],
        ),
        (f"{SMALL}device: {{currency: USD}}\n", ["Line 6: `hour` is missing in device."]),
        (f"{SMALL}colour: red\n", None),
        (
            SMALL.replace("words:swap", "words:swop"),
            ["Line 5: `words:swop` is not a maker. Did you mean `words:swap`?"],
        ),
        (SMALL.replace("words:swap", "swap"), None),
        (f"{SMALL}    count: 0\n", ["Line 6: `stages.0.count` is 0; it must be at least 1."]),
        (f"{SMALL}    count: 101\n", ["Line 6: `stages.0.count` is 101; it must be at most 100."]),
        (f"{SMALL}    of: before\n", ["Line 6: `before` is not a stage. Known are: start, swapped."]),
        (
            f"{SMALL}    options: {{tager: hanta}}\n",
            ["Line 6: `tager` is not known here. Did you mean `tagger`?"],
        ),
        (
            f"{SMALL}    filters:\n      - filter: lenght\n",
            ["Line 7: `filter` must name a filter. Did you mean `length`?"],
        ),
        (
            f"{SMALL}    filters:\n      - at_least: 3\n",
            [f"Line 7: `filter` must name a filter. Known are: {', '.join(FILTERS)}."],
        ),
        (
            f"{SMALL}    filters:\n      - {{filter: length, at_least: three}}\n",
            ["Line 7: `stages.0.filters.0.at_least` must be a whole number, not 'three'."],
        ),
        (
            f"{SMALL}    filters:\n      - {{filter: length, at_least: 9, at_most: 3}}\n",
            ["Line 7: A text cannot have at least 9 and at most 3 words."],
        ),
        (
            SMALL + STAGE,
            ["Line 6: `swapped` is already the name of a stage or of the start. Choose another name."],
        ),
        (
            SMALL.replace("name: swapped", "name: start"),
            ["Line 4: `start` is already the name of a stage or of the start. Choose another name."],
        ),
        (
            f"{SMALL}    of: swapped\n",
            ["Line 3: The stages form a cycle: `swapped` of `swapped`. Let one of them read `start`."],
        ),
        (
            f"{SMALL}instances:\n  of: made\n  captions: {{caption: start}}\n",
            ["Line 7: `made` does not make texts. Known are: start, swapped."],
        ),
        (
            f"{SMALL}instances:\n  of: swapped\n  captions:\n    caption: beginning\n",
            ["Line 9: `beginning` does not lead to `swapped`. Choose one of: swapped, start."],
        ),
        (
            f"{SMALL}instances:\n  of: swapped\n  captions:\n    Caption: start\n",
            ["Line 9: The role 'Caption' is not a name of at most 30 small letters, digits and _, a letter first."],
        ),
        (
            f"{SMALL}instances:\n  of: swapped\n  captions: {{caption: start}}\n  image: {{}}\n",
            ["Line 9: `image` is not known here. Did you mean `images`?"],
        ),
        (f"{SMALL}instances: {{of: swapped, captions: {{}}}}\n", None),
        (
            SMALL.replace("words:swap", "diffusers:sdxl"),
            ["Line 4: `checker` is missing in stages.0.options."],
        ),
        (
            SMALL.replace("words:swap", "'diffusers:'"),
            ["Line 5: `diffusers:` is not a maker. Did you mean `diffusers:NAME`?"],
        ),
        (
            SMALL.replace("words:swap", "llm:some\n    options:\n      template: |\n        A\n        {{ colour }}"),
            [
                "Line 7: Line 2 of `template` has the unknown field `colour`. Known is: caption.",
            ],
        ),
        (
            SMALL.replace("words:swap", "llm:some\n    options:\n      template: swap-objet"),
            None,
        ),
        (
            SMALL.replace("words:swap", "llm:some\n    options: {template: swap-object, price: {currency: usd}}"),
            None,
        ),
        (
            f"{IMAGES}    filters: [{{filter: length}}]\n",
            ["Line 7: The filter `length` works on texts, but `diffusers:sdxl` makes images. Remove it."],
        ),
        (
            f"{SMALL}    filters: [{{filter: shows, scorer: 'open_clip:ViT-B-32/openai', at_least: 0}}]\n",
            ["Line 6: The filter `shows` works on images, but `words:swap` makes texts. Remove it."],
        ),
        (
            f"{IMAGES}    filters: [{{filter: shows, scorer: 'open_clip:ViT-B-32/openai'}}]\n",
            ["Line 7: Set `at_least`, a score, or `rival`, the role of another caption, or both."],
        ),
        (
            f"{IMAGES}    filters: [{{filter: shows, scorer: clip, at_least: 0}}]\n",
            ["Line 7: 'clip' does not name a model. Write FAMILY:NAME, such as open_clip:ViT-B-32/openai."],
        ),
        (
            f"{SMALL}    filters: [{{filter: grammar, model: cola}}]\n",
            ["Line 6: `cola` names no model that can do this. Write classifier:NAME, likelihood:NAME or vera:NAME."],
        ),
        (f"{SMALL}    filters: [{{filter: grammar}}]\n", ["Line 6: `model` is missing in stages.0.filters.0."]),
        (
            f"{SMALL}    filters: [{{filter: says-the-same, model: 'vera:some'}}]\n",
            ["Line 6: `vera:some` names no model that can do this. Write nli:NAME or similarity:NAME."],
        ),
        (
            f"{SMALL}    filters: [{{filter: grammar, model: 'vera:some'}}, {{filter: adversarial-refinement}}]\n",
            ["Line 6: `adversarial-refinement` uses the scores of `plausible`. Put the filter `plausible` before it."],
        ),
        (
            f"{IMAGES}{STAGE}    of: pictures\n",
            ["Line 9: `pictures` makes images, but `words:swap` reads texts. Read a stage of texts."],
        ),
        (
            f"{IMAGES}instances: {{of: pictures, captions: {{caption: start}}}}\n",
            ["Line 7: `pictures` does not make texts. Known are: start."],
        ),
        (
            f"{IMAGES}    of: swapped\n{STAGE}instances: {{of: start, {OF_START}}}\n",
            ["Line 10: `pictures` makes images of `swapped`, which does not lead to `start`."],
        ),
    ],
)
def test_every_problem_has_its_line_and_says_what_to_write(text: str, expected: list[str] | None) -> None:
    found = problems_of(text)
    assert found
    if expected is not None:
        assert found == expected


def test_a_filter_of_a_whole_stage_cannot_wait_for_people() -> None:
    gate = "filters: [filter: length, {filter: blind-solvability}]"
    text = ASKING.replace("of: chosen}", f"of: chosen, {gate}}}")
    assert problems_of(text) == [
        "Line 4: `blind-solvability` must see all candidates of `swapped` at once, but those of `chosen` come one "
        "after another. Remove it."
    ]


MIXED = "name: mixed\nstart: {role: caption, images: image}\nstages:\n  - {name: mixed, make: 'mix:random'}\n"


def test_makers_of_images_read_the_images_of_the_start_or_of_another_stage() -> None:
    again = f"{MIXED}  - {{name: again, make: 'patch:random', of: mixed}}\n"
    pipeline = read_pipeline(again)
    assert (pipeline.start.images, [*pipeline.image_stages]) == ("image", ["mixed", "again"])
    assert read_pipeline(SMALL).start.images == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            MIXED.replace(", images: image", ""),
            "Line 4: `mix:random` reads images. Name their role in `start`, such as `images: image`.",
        ),
        (
            MIXED.replace(", images: image", ", images: An image"),
            "Line 2: `start.images` is 'An image'. Write lower-case letters, digits and _.",
        ),
        (
            f"{MIXED}{STAGE}  - {{name: last, make: 'mix:random', of: swapped}}\n",
            "Line 7: `swapped` makes texts, but `mix:random` reads images. Read the start or a stage of images.",
        ),
        (
            f"{MIXED}{STAGE}    of: mixed\n",
            "Line 7: `mixed` makes images, but `words:swap` reads texts. Read a stage of texts.",
        ),
        (
            MIXED.replace("'mix:random'", "'nearest:onnx:demo', options: {at_least: 0.9, below: 0.5}"),
            "Line 4: `at_least` must be less than `below`.",
        ),
        (
            MIXED.replace("'mix:random'", "'mix:random', options: {share: 1.5}"),
            "Line 4: `stages.0.options.share` is 1.5; it must be at most 0.99.",
        ),
    ],
)
def test_what_is_wrong_with_images_is_said(text: str, expected: str) -> None:
    assert problems_of(text) == [expected]


def test_a_file_is_equal_to_another_that_says_the_same_otherwise() -> None:
    other = f"# Swaps words.\nseed: 0\n{SMALL}    count: 1\n"
    assert read_pipeline(other) == read_pipeline(SMALL)
    assert read_pipeline(f"{SMALL}    count: 2\n") != read_pipeline(SMALL)
    assert isinstance(read_pipeline(SMALL), PipelineFile)


def test_a_pipeline_may_make_images_of_its_start_and_of_its_texts() -> None:
    text = (
        f"{IMAGES}    count: 4\n{STAGE}instances: {{of: swapped, captions: {{c: swapped}}, images: {{i: pictures}}}}\n"
    )
    pipeline = read_pipeline(text)
    assert list(pipeline.image_stages) == ["pictures"]
    of_start = text.replace("of: swapped", "of: start").replace("c: swapped", "c: start")
    assert read_pipeline(of_start).instances is not None


ASKED = """name: loop
start: {role: caption}
stages:
  - {name: swapped, make: "words:swap", of: chosen}
studies:
  - name: chosen
    launch: true
    role: caption
    instances:
      of: start
      captions: {caption: start, other: start.other}
      images: {candidate: candidate}
    study:
      title: Choose
      kind: best_of_n
      contact: Ada, ada@example.org
      ask: {caption: other}
instances:
  of: swapped
  captions: {caption: chosen.other, swapped: swapped}
  images: {image: chosen.negative_image}
"""


def test_a_stage_of_people_stands_between_others_and_its_study_has_the_name_of_both() -> None:
    pipeline = read_pipeline(ASKED)
    assert [stage.name for stage in pipeline.ordered_stages] == ["chosen", "swapped"]
    (stage,) = pipeline.studies
    design = pipeline.design(stage)
    assert (design.study, design.instances.tags, design.purpose) == ("loop-chosen", ("loop-chosen",), "filter")
    assert (
        pipeline.name_of_study(read_pipeline(ASKED.replace("title:", "study: mine\n      title:")).studies[0]) == "mine"
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("kind: best_of_n", "kind: best_of_m", "Line 15: `kind` is 'best_of_m'. Choose one of: "),
        ("contact: Ada, ada@example.org", "language: en", "Line 13: Fill in `contact`: a study that is launched needs"),
        ("title: Choose", "title: Choose\n      instances: {}", "Line 15: Leave `instances` out: the stage says which"),
        (
            "title: Choose",
            "title: Choose\n      purpose: qualification",
            "The study accepts nothing, because its purpose",
        ),
        (
            "role: caption\n",
            "role: captain\n",
            "Line 8: Instances of the study have no caption captain. Choose one of: ",
        ),
        ("    role: caption\n", "", "Line 4: `chosen` is a study. Name in its `role` the captions to read."),
        (
            "chosen.other",
            "chosen.",
            "Line 20: `instances.captions.caption` is 'chosen.'. Write the name of a stage or role",
        ),
        (
            "chosen.other",
            "swapped.other",
            "Line 20: `swapped` makes single texts, without roles. Write `swapped` alone.",
        ),
        ("chosen.negative_image", "chosen", "Line 21: `chosen` is a study. Write the role of an image, as in"),
        ("chosen.negative_image", "swapped.image", "Line 21: `swapped` makes texts, and no images."),
        ("      of: start\n", "      of: swapped\n", "The stages form a cycle"),
        (
            "      of: start\n",
            "      of: begin\n",
            "Line 10: `begin` does not make texts. Known are: start, swapped, chosen.",
        ),
        ("name: chosen", "name: swapped", "Line 6: `swapped` is already the name of a stage or of the start."),
    ],
)
def test_what_is_wrong_with_a_stage_of_people_is_said_with_its_line(old: str, new: str, expected: str) -> None:
    text = ASKED.replace(old, new)
    assert text != ASKED
    with pytest.raises(DesignRefused) as refused:
        read_pipeline(text)
    assert expected in str(refused.value)


def test_the_shipped_pipeline_with_people_lacks_only_a_contact() -> None:
    shipped = Path("making/designs/best-of-four.yaml").read_text(encoding="utf-8")
    with pytest.raises(DesignRefused) as refused:
        read_pipeline(shipped)
    assert [problem.line for problem in refused.value.problems] == [shipped.splitlines().index('      contact: ""') + 1]
    read_pipeline(shipped.replace('contact: ""', 'contact: "Ada, ada@example.org"'))

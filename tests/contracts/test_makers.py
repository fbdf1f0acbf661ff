"""What holds for every maker and every filter."""

from collections.abc import Iterator, Sequence

import pytest

from making.errors import CannotMake
from making.filters import (
    FILTERS,
    BaseFilter,
    CandidateText,
    Filter,
    ModelFilter,
    StageFilter,
    Verdict,
    get_filter,
)
from making.filters.base import gap_name
from making.makers import MAKERS, FoundImage, LoadedMaker, MadeImage, MadeText, NothingMade, Request, get_maker
from making.pipeline_file import read_pipeline
from predictions.scorers import CannotLoad
from studies.design.parser import read_values
from tests.making.filters.contexts import no_context
from tests.making.makers.images import MISSING, images_of, plane

TEXTS = [
    "Two yellow fish swim quickly left of a dog in a large blue tent and slowly jump.",
    "Dogs look at cats.",
    "Sleeping.",
    "",
    "👋 ¿Qué?\n\n" + "word " * 1000,
]
every_family = pytest.mark.parametrize("family", MAKERS)
# The others are tried where their libraries are (tests/models).
SITE = [family for family in MAKERS if not get_maker(family).on_worker]
every_family_of_the_site = pytest.mark.parametrize("family", SITE)
every_reader_of_texts = pytest.mark.parametrize(
    "family", [family for family in SITE if not get_maker(family).reads_images]
)
every_reader_of_images = pytest.mark.parametrize(
    "family", [family for family in SITE if get_maker(family).reads_images]
)
# A name for the key that stands for any model.
MODELS = {"nearest": "onnx:demo"}
PICTURES = {"a": plane(0, 255), "b": plane(10, 250), "c": plane(60, 190), "d": plane(200, 20), "gone": None}
# Of families that have options without a default.
OPTIONS = {"diffusers": "{checker: none}", "llm": "{template: replace-object}"}
FILTER_OPTIONS = {
    "plausible": "model: 'vera:some'",
    "grammar": "model: 'classifier:some'",
    "toxicity": "model: 'classifier:some'",
    "says-the-same": "model: 'nli:some'",
    "shows": "scorer: 'open_clip:some/tag', at_least: 0.5",
}
every_filter = pytest.mark.parametrize("name", FILTERS)


def requests(count: int = 3) -> list[Request]:
    return [Request(text, count, seed) for seed, text in enumerate(TEXTS)]


def loaded(family: str) -> Iterator[tuple[str, LoadedMaker]]:
    """Yield every maker of a family, with its policy. Those of images see four of them, and miss one."""
    for policy in get_maker(family).policies:
        name = MODELS[family] if policy.isupper() else policy
        maker = get_maker(family)().load(name)
        maker.look_at(images_of(PICTURES))
        yield name, maker


@every_reader_of_texts
def test_it_makes_the_same_again_whatever_the_batch(family: str) -> None:
    for policy, maker in loaded(family):
        once = list(maker.make(requests()))
        assert len(once) == len(TEXTS)
        assert once == [result for request in requests() for result in maker.make([request])]
        assert once == list(get_maker(family)().load(policy).make(requests()))


@every_reader_of_texts
def test_it_makes_something_of_some_text_and_gives_a_sentence_for_the_rest(family: str) -> None:
    for policy, maker in loaded(family):
        results = maker.make(requests())
        assert not isinstance(results[0], NothingMade), policy
        for text, result in zip(TEXTS, results, strict=True):
            if isinstance(result, NothingMade):
                assert result.reason.endswith("."), policy
                continue
            assert 1 <= len(result) <= 3
            texts = [made.text for made in result if isinstance(made, MadeText)]
            assert all(made.strip() and made != text for made in texts)
            assert len({*texts}) == len(texts) == len(result)


@every_reader_of_images
def test_it_makes_the_same_of_images_again_and_gives_a_sentence_for_one_that_is_missing(family: str) -> None:
    requests = [Request("", 2, seed, name, frozenset({name, "b"})) for seed, name in enumerate(PICTURES)]
    for policy, maker in loaded(family):
        once = list(maker.make(requests))
        assert once == [result for request in requests for result in maker.make([request])]
        for request, result in zip(requests, once, strict=True):
            if isinstance(result, NothingMade):
                assert (request.image, result.reason) == ("gone", MISSING), policy
                continue
            assert 1 <= len(result) <= 2
            for made in result:
                assert isinstance(made, MadeImage | FoundImage)
                # Neither the image itself nor another one of its instance.
                assert not isinstance(made, FoundImage) or made.image not in request.own_images
        assert isinstance(once[-1], NothingMade)


@every_family_of_the_site
def test_it_says_what_it_is(family: str) -> None:
    for policy, maker in loaded(family):
        assert maker.identity.name == f"{family}:{policy}"
        assert len(maker.identity.name) <= 100
        assert 0 < len(maker.identity.version) <= 200
        assert get_maker(family).accepts(policy)


@every_family
def test_a_pipeline_file_may_name_each_of_its_policies(family: str) -> None:
    maker = get_maker(family)
    assert maker.policies
    for policy, about in maker.policies.items():
        assert maker.accepts(policy)
        assert about.endswith(".")
        made = f"{{name: made, make: '{family}:{policy}', options: {OPTIONS.get(family, '{}')}}}"
        start = "{role: caption, images: image}"
        (stage,) = read_pipeline(f"name: some\nstart: {start}\nstages: [{made}]\n").stages
        assert type(stage.maker) is maker
        assert stage.policy == policy
    assert not maker.accepts("")


@every_filter
def test_it_judges_every_candidate_and_says_the_same_again(name: str) -> None:
    judge = wanted_filter(name)
    scores = {gap_name(each): 0.1 for each in judge.measured_by}
    texts = [CandidateText(text, TEXTS[0], str(place), TEXTS[0], scores) for place, text in enumerate(TEXTS)]

    def verdicts(candidates: list[CandidateText]) -> Sequence[Verdict]:
        if isinstance(judge, Filter):
            return judge.judge(candidates, frozenset())
        assert isinstance(judge, StageFilter)
        return judge.judge_stage(candidates, no_context()).verdicts

    if isinstance(judge, ModelFilter):
        # The others are tried where their libraries are (tests/models). Here there are none.
        with pytest.raises((CannotMake, CannotLoad), match=r"\.$"):
            judge.load()
        return
    found = verdicts(texts)
    assert len(found) == len(TEXTS)
    assert list(found) == list(verdicts(texts))
    assert all(verdict.reason == "" or verdict.reason.endswith(".") for verdict in found)
    assert list(verdicts([])) == []


@every_filter
def test_a_pipeline_file_may_name_a_filter(name: str) -> None:
    judge = wanted_filter(name)
    before = "".join(f"{{filter: {each}, {FILTER_OPTIONS[each]}}}, " for each in judge.measured_by)
    make = "words:swap" if judge.of_texts else "diffusers:sdxl, options: {checker: none}"
    filters = f"[{before}{{filter: {name}, {FILTER_OPTIONS.get(name, '')}}}]"
    file = f"name: some\nstart: {{role: caption}}\nstages:\n  - {{name: made, make: {make}, filters: {filters}}}\n"
    (stage,) = read_pipeline(file).stages
    assert stage.checked_filters[-1] == (name, judge)
    assert judge.version


def wanted_filter(name: str) -> BaseFilter:
    """Return a filter with the options that it needs."""
    options = read_values(f"{{{FILTER_OPTIONS.get(name, '')}}}", file="", guide="")[0]
    return get_filter(name).model_validate(options)

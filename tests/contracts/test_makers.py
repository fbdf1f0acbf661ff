"""What holds for every maker and every filter."""

from collections.abc import Iterator

import pytest

from making.filters import FILTERS, CandidateText, get_filter
from making.makers import MAKERS, FoundImage, LoadedMaker, MadeImage, MadeText, NothingMade, Request, get_maker
from making.pipeline_file import read_pipeline
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
def test_it_judges_every_text_and_says_the_same_again(name: str) -> None:
    judge = get_filter(name)()
    candidates = [CandidateText(text, TEXTS[0]) for text in TEXTS]
    verdicts = judge.judge(candidates, frozenset())
    assert len(verdicts) == len(TEXTS)
    assert list(verdicts) == list(judge.judge(candidates, frozenset()))
    assert all(verdict.reason == "" or verdict.reason.endswith(".") for verdict in verdicts)
    assert list(judge.judge([], frozenset())) == []


@every_filter
def test_a_pipeline_file_may_name_a_filter_without_options(name: str) -> None:
    file = (
        "name: some\nstart: {role: caption}\nstages:\n"
        f"  - {{name: made, make: 'words:swap', filters: [{{filter: {name}}}]}}\n"
    )
    (stage,) = read_pipeline(file).stages
    assert stage.checked_filters == [(name, get_filter(name)())]
    assert get_filter(name).version

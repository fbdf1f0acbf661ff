"""What leaks into training: 100 planted leaks of five kinds, and what only looks like one."""

import hashlib
import io
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from PIL import Image

from predictions.image_sets.embeddings import ColourAndGradient, Vectors
from tests.studies.real_data import REAL_DATA, needs_real_data
from training.leaks import (
    KINDS,
    NEAR_CAPTION,
    NEAR_IMAGE,
    SAME_CAPTION,
    SAME_IMAGE,
    SAME_SOURCE,
    Item,
    Leak,
    LeakCheck,
    LeakReport,
    Protected,
    find_leaks,
)

EMBEDDING = ColourAndGradient()


def caption_of(number: int) -> str:
    """Return a caption of ten words, of which those of other numbers have three."""
    dice = random.Random(number)
    made = ["".join(dice.choice("bdfgklmnprtvz") + dice.choice("aeiou") for _ in range(3)) for _ in range(7)]
    return f"The {' '.join(made[:3])} stands near {' '.join(made[3:])}."


def pixels_of(number: int) -> Image.Image:
    """Return an image of 128 x 96 pixels, of smooth random colours."""
    grid = np.random.default_rng(number).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(grid).resize((128, 96), Image.Resampling.BICUBIC)


def saved(picture: Image.Image, quality: int = 95) -> tuple[str, Vectors]:
    """Return the SHA-256 and the vector of a saved image."""
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=quality)
    with Image.open(file) as opened:
        return hashlib.sha256(file.getvalue()).hexdigest(), EMBEDDING.embed([opened.convert("RGB")])[0]


def planted() -> tuple[Protected, list[Item], Mapping[str, Vectors]]:
    """Return 100 protected items, an example that leaks each of them, twenty of a kind, and 100 clean ones."""
    vectors: dict[str, Vectors] = {}

    def image(number: int, picture: Image.Image | None = None, quality: int = 95) -> str:
        name, vectors[name] = saved(picture or pixels_of(number), quality)
        return name

    held = [
        Item(f"held-{n}", [caption_of(n)], [image(n)] if n < 40 else [], [f"coco:{n}"] if n >= 80 else [])
        for n in range(100)
    ]
    edits: list[Callable[[str], str]] = [
        lambda text: text.replace("The ", "A ", 1),
        lambda text: text.replace("stands", "stand"),
        lambda text: text.replace("near", "naer"),
        lambda text: f"{text} Today!",
    ]
    examples = []
    for n in range(100):
        own = Item(f"example-{n}", [caption_of(1000 + n)], [image(1000 + n)] if n < 40 else [], [f"coco:{1000 + n}"])
        kind = KINDS[n // 20]
        planted_in = {
            SAME_IMAGE: Item(own.name, own.captions, [*own.images, *held[n].images], own.sources),
            NEAR_IMAGE: Item(own.name, own.captions, [image(0, pixels_of(n).resize((96, 72)), 60 + n)], own.sources),
            SAME_CAPTION: Item(own.name, [caption_of(n).upper().replace(".", "\u00a0!")], own.images, own.sources),
            NEAR_CAPTION: Item(own.name, [*own.captions, edits[n % 4](caption_of(n))], own.images, own.sources),
            SAME_SOURCE: Item(own.name, own.captions, own.images, [*own.sources, f"coco:{n}"]),
        }[kind]
        examples += [planted_in, Item(f"clean-{n}", own.captions, own.images, own.sources)]
    names = [name for item in held for name in item.images]
    protected = Protected(held, images=names, vectors=np.stack([vectors[name] for name in names]))
    return protected, examples, vectors


def test_a_hundred_planted_leaks_of_five_kinds_are_caught_and_nothing_else() -> None:
    protected, examples, vectors = planted()
    check = LeakCheck(protected, vectors_of=lambda names: {name: vectors[name] for name in names})
    kept = [item.name for item in check.without_leaks(examples, lambda item: item)]
    assert kept == [f"clean-{n}" for n in range(100)]
    report = check.report()
    assert report.counts == dict.fromkeys(KINDS, 20)
    assert (report.examples, report.leaking, report.protected, report.protected_images) == (200, 100, 100, 40)
    assert [(pair.kind, pair.example, pair.protected) for pair in report.pairs] == [
        (kind, f"example-{n}", f"held-{n}")
        for place, kind in enumerate(KINDS)
        for n in range(place * 20, place * 20 + 20)
    ]
    assert all(pair.closeness is not None for pair in report.pairs if pair.kind in {NEAR_IMAGE, NEAR_CAPTION})
    assert LeakReport.from_plain(json.loads(json.dumps(report.to_plain()))) == report


def found(protected: Sequence[Item], *examples: Item) -> dict[str, list[str]]:
    """Return kind -> names of the examples with such a leak."""
    report = find_leaks(examples, Protected(protected))
    return {
        kind: [pair.example for pair in report.pairs if pair.kind == kind]
        for kind, count in report.counts.items()
        if count
    }


def test_short_captions_do_not_leak_without_their_image() -> None:
    held = Item("held", ["A dog.", "a dog runs on the grass"], ["1" * 64])
    assert found([held], Item("two words", ["a dog"]), Item("five", ["dog runs on the grass"])) == {}
    # Six words are enough; any caption is with its image.
    assert found([held], Item("six", ["A dog runs on the grass!"])) == {SAME_CAPTION: ["six"]}
    assert found([held], Item("image", ["A dog"], ["1" * 64])) == {SAME_IMAGE: ["image"]}


def test_a_caption_of_three_protected_images_is_about_none_of_them() -> None:
    stock = "a man riding a wave on a surfboard"
    two = [Item(f"held-{n}", [stock], [str(n) * 64]) for n in range(2)]
    assert found(two, Item("one", [stock])) == {SAME_CAPTION: ["one"]}
    # Again the same image, or no image: these are no further images.
    assert found([*two, two[0], Item("text", [stock])], Item("one", [stock])) == {SAME_CAPTION: ["one"]}
    three = [*two, Item("held-2", [stock], ["2" * 64])]
    assert found(three, Item("one", [stock]), Item("near", [f"{stock}s"])) == {}
    assert find_leaks([], Protected([*three, Item("short", ["A dog"])])).captions_too_common == 1


def test_an_example_with_several_leaks_counts_once_in_each_kind() -> None:
    held = Item("held", ["The red ball lies under the table."], ["1" * 64, "2" * 64], ["coco:7"])
    report = find_leaks([Item("it", [*held.captions] * 2, held.images, ["coco:8", "coco:7"])], Protected([held]))
    assert (report.leaking, report.counts) == (
        1,
        {SAME_IMAGE: 1, NEAR_IMAGE: 0, SAME_CAPTION: 1, NEAR_CAPTION: 0, SAME_SOURCE: 1},
    )
    assert report.pairs[0] == Leak(SAME_IMAGE, "it", "held", "1" * 64)


def test_a_report_holds_no_caption_which_its_author_may_take_back() -> None:
    held = Item("held", ["The red ball lies under the table."])
    report = find_leaks(
        [Item("same", held.captions), Item("near", ["The red ball lies under the tables."])], Protected([held])
    )
    assert [(pair.kind, pair.shared) for pair in report.pairs] == [(SAME_CAPTION, ""), (NEAR_CAPTION, "")]
    assert "ball" not in json.dumps(report.to_plain())


def test_an_equal_caption_is_not_near_too_and_words_in_place_of_others_are_another_caption() -> None:
    held = Item("held", ["A man in a red shirt holds a ball."])
    # 34 and 34 groups of three characters ("red" for "blue"), by hand: 5 of the one and 6 of the other are not shared.
    examples = [Item("same", ["a MAN in a red shirt holds a ball"]), Item("other", ["A boy in a red skirt has a bat."])]
    assert found([held], *examples) == {SAME_CAPTION: ["same"]}


def test_images_that_cannot_be_compared_are_counted_once() -> None:
    examples = [Item("a", images=["1" * 64]), Item("b", images=["1" * 64, "2" * 64])]
    # Nothing protected has a vector, so none is asked for.
    assert find_leaks(examples, Protected([])).images_not_compared == 0
    vectors = {"2" * 64: np.array([1, 0], np.float32)}
    protected = Protected([], images=["coco-val: 1.jpg"], vectors=np.array([[0, 1], [1, 0]], np.float32)[1:])
    assert find_leaks(examples, protected).images_not_compared == 2
    report = find_leaks(examples, protected, vectors_of=lambda names: vectors)
    assert (report.images_not_compared, report.counts[NEAR_IMAGE]) == (1, 1)
    # An image of a known test set belongs to no item: its own name is told.
    assert report.pairs == [Leak(NEAR_IMAGE, "b", "coco-val: 1.jpg", "2" * 64, 0.0)]


@needs_real_data
def test_of_real_captions_few_about_other_photos_are_flagged() -> None:
    """1,000 photos of RoCOCO, five captions each, against SugarCrepe. Both name the photos, all from COCO.

    The equal captions were counted without this code, too: by lower-case words of a regular expression.
    """
    held: dict[str, list[str]] = {}
    for file in sorted((REAL_DATA / "sugarcrepe").glob("*.json")):
        for case in json.loads(file.read_text(encoding="utf-8")).values():
            held.setdefault(case["filename"], []).extend([case["caption"], case["negative_caption"]])
    protected = Protected(Item(name, captions) for name, captions in held.items())
    photos = json.loads((REAL_DATA / "rococo/danger.json").read_text(encoding="utf-8"))[:1000]
    examples: dict[bool, list[Item]] = {True: [], False: []}
    for photo in photos:
        name = re.sub(r".*_", "", photo["image"])
        examples[name in held] += [Item(name, [caption]) for caption in photo["caption"][:5]]
    own, others = find_leaks(examples[True], protected), find_leaks(examples[False], protected)
    assert (own.examples, own.counts[SAME_CAPTION]) == (535, 410)
    assert (others.examples, others.counts[SAME_CAPTION], others.counts[NEAR_CAPTION]) == (4465, 13, 17)

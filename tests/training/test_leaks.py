"""What leaks into training: 100 planted leaks of five kinds, and what only looks like one."""

import hashlib
import io
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageOps

from predictions.image_sets.embeddings import GAINS, ColourAndGradient, Vectors
from tests.studies.real_data import REAL_DATA, needs_real_data
from training.frames import without_frame
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
from training.near_crops import NearCrops, Pixels, small_pixels

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


def resaved(picture: Image.Image) -> Image.Image:
    file = io.BytesIO()
    picture.convert("RGB").save(file, "JPEG", quality=80)
    return Image.open(file).convert("RGB")


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


def test_rows_of_one_photo_are_about_one_thing() -> None:
    """As in a test set whose rows have the same photo and caption, each with a negative caption of its own."""
    positive = "A brown dog runs over the grass."
    rows = [
        Item(str(n), [positive, f"A {each} dog runs over the grass."], ["made".ljust(64, str(n)), "0" * 64])
        for n, each in enumerate(("white", "black", "small", "large", "young", "old"))
    ]
    asked = [Item("same", [positive]), Item("near", ["A brown cat runs over the grass."])]
    report = find_leaks(asked, Protected(rows))
    # On one image, the caption says enough, though six rows have it; and they follow no template.
    assert (report.captions_too_common, report.captions_alike) == (0, 0)
    assert (report.counts[SAME_CAPTION], report.counts[NEAR_CAPTION], report.leaking) == (1, 1, 2)
    # Without the photo, the rows are about six images, on which the caption is too often.
    apart = find_leaks(asked, Protected(replace(row, images=row.images[:1]) for row in rows))
    assert (apart.captions_too_common, apart.captions_alike, apart.leaking) == (1, 6, 0)


def test_an_instance_and_its_row_of_a_release_are_about_one_thing() -> None:
    """Its caption was corrected between."""
    words = ("white", "black", "small", "large", "young")
    both = [
        item
        for n, each in enumerate(words)
        for item in (
            Item(f"p/{n}", [f"The {each * 2} {each} dogs run far away."], sources=[f"instance:p/{n}"]),
            Item(f"release v1: {n}", [f"The {each * 2} {each} dogs ran far away."], sources=[f"instance:p/{n}"]),
        )
    ]
    assert find_leaks([], Protected(both)).captions_alike == 0
    assert find_leaks([], Protected(replace(item, sources=[]) for item in both)).captions_alike == 10


def test_a_report_says_what_the_check_finds_and_what_it_does_not() -> None:
    held = Item("held", ["The red ball lies under the table."], ["1" * 64])
    report = find_leaks([Item("it", ["The red ball lies under the chair."])], Protected([held]))
    assert report.counts[NEAR_CAPTION] == 1
    assert [sentence.split(".")[0] for sentence in report.limits] == [
        "The check finds images that were saved again, resized, mirrored, turned by 90 degrees, put into a frame of "
        "one colour, made grey, brighter or darker, or cropped to 70 % of each side or more",
        "It misses images that were turned by other angles, images of which a protected one is a part, and captions in "
        "other words",
    ]
    template = [Item(str(n), [f"A {each} ball lies under the old table."]) for n, each in enumerate("abcdefgh")]
    report = find_leaks([Item("it", ["A polychromatic ball lies under the old table."])], Protected(template))
    assert (report.leaking, report.captions_alike) == (0, 8)
    assert report.limits[2].startswith(
        "8 protected captions follow a template: in their project or test set, too many differ by one word"
    )
    assert "parts" not in "".join(report.limits)
    # An earlier version looked for none at all.
    assert replace(report, version="4").limits[2].startswith("The protected captions follow a template: 8 differ")
    long = [
        Item(each, [f"The {each} sees how {other} birds sit on the old red roof."])
        for each, other in zip("abcdefgh", "ijklmnop", strict=True)
    ]
    report = find_leaks([Item("it", ["The x sees how y birds sit on the old red roof."])], Protected(long))
    assert (report.captions_alike, report.captions_two_alike) == (0, 8)
    assert report.limits[2].startswith("Many protected captions differ by two words from captions about other images.")
    some = replace(report, protected_images=5000, protected_parts=3000, finds_altered=True)
    assert some.limits[-1] == "Cropped and brighter copies were looked for of 3,000 of 5,000 protected images."
    as_they_are = "Images were compared as they are"
    assert replace(some, finds_altered=False, protected_parts=0).limits[0].startswith(as_they_are)
    # Only known test sets are protected.
    none = replace(some, protected_parts=0)
    assert not none.limits[0].startswith(as_they_are)
    assert none.limits[-1] == "Cropped and brighter copies were looked for of 0 of 5,000 protected images."
    # Earlier reports do not say it.
    assert replace(some, finds_altered=None, protected_parts=0).limits[0].startswith(as_they_are)
    # Reports of earlier versions do not have it.
    earlier = report.to_plain()
    del earlier["protected_parts"], earlier["captions_alike"]
    assert "earlier version" in LeakReport.from_plain(earlier).limits[0]


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


def photos() -> list[Image.Image]:
    """Return real photos, each thing once: of the 304, many show again what another shows, some mirrored."""
    found: list[Image.Image] = []
    for file in sorted((REAL_DATA / "images/photos").glob("*.jpg"))[::5]:
        with Image.open(file) as opened:
            # Small, because many are altered in many ways.
            found.append(opened.convert("RGB").resize((opened.width // 2, opened.height // 2)))
    vectors = EMBEDDING.embed(found)
    near = np.maximum(vectors @ vectors.T, vectors @ EMBEDDING.mirrored(vectors).T) > 0.9
    return [each for place, each in enumerate(found) if not near[place, :place].any()]


def readers(pictures: Mapping[str, Image.Image]) -> Mapping[str, Any]:
    """Return what a check reads of pictures."""

    def unframed_of(names: Sequence[str]) -> Mapping[str, tuple[Vectors, Pixels]]:
        insides = {name: without_frame(pictures[name]) for name in names}
        return {
            name: (EMBEDDING.embed([each])[0], small_pixels(each)) for name, each in insides.items() if each is not None
        }

    return {
        "vectors_of": lambda names: {name: EMBEDDING.embed([pictures[name]])[0] for name in names},
        "pixels_of": lambda names: {name: small_pixels(pictures[name]) for name in names},
        "unframed_of": unframed_of,
    }


def cut(picture: Image.Image, left: float, top: float, right: float, bottom: float) -> Image.Image:
    width, height = picture.size
    return picture.crop(
        (round(left * width), round(top * height), round((1 - right) * width), round((1 - bottom) * height))
    )


ALTERED: dict[str, Callable[[Image.Image], Image.Image]] = {
    "turned to the left": lambda photo: photo.rotate(90, expand=True),
    "upside down, darker and grey": lambda photo: photo.rotate(180).point(lambda level: level * 0.7).convert("L"),
    "turned to the right and mirrored": lambda photo: ImageOps.mirror(photo.rotate(270, expand=True)),
    "in a white frame": lambda photo: ImageOps.expand(photo, photo.width // 10, "white"),
    "in a blue frame, turned": lambda photo: ImageOps.expand(photo, photo.width // 14, "#356").rotate(90, expand=True),
    "between black bars": lambda photo: ImageOps.expand(photo, (0, photo.height // 5), "black"),
    "half the size": lambda photo: photo.resize((photo.width // 2, photo.height // 2)),
    "mirrored": ImageOps.mirror,
    "grey": lambda photo: photo.convert("L").convert("RGB"),
    "mirrored and grey": lambda photo: ImageOps.mirror(photo).convert("L").convert("RGB"),
    "5 % off each edge": lambda photo: cut(photo, 0.05, 0.05, 0.05, 0.05),
    "5 % off in all": lambda photo: cut(photo, 0.025, 0.025, 0.025, 0.025),
    "5 % off at the left": lambda photo: cut(photo, 0.05, 0, 0, 0),
    "5 % off at a corner, mirrored": lambda photo: ImageOps.mirror(cut(photo, 0, 0.05, 0.05, 0)),
    "three quarters": lambda photo: cut(photo, 0.2, 0.03, 0.05, 0.22),
    "three quarters, mirrored and grey": lambda photo: ImageOps.mirror(cut(photo, 0.1, 0.1, 0.15, 0.15).convert("L")),
    "darker": lambda photo: photo.point(lambda level: level * 0.7),
    "more contrast": lambda photo: photo.point(lambda level: 1.2 * level - 20),
}


@needs_real_data
def test_altered_copies_of_real_photos_are_found_and_no_other_photo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.leaks.PAIRS_NAMED", 100)
    every = photos()
    held, others = every[::2], every[1::2]
    assert len(others) > 20
    names = [f"held-{place}" for place in range(len(held))]
    brighter = EMBEDDING.brighter(held)
    protected = Protected(
        [Item(name, images=[name]) for name in names],
        images=names,
        vectors=EMBEDDING.embed(held),
        brightened=[name for name in names for _ in GAINS],
        brighter=brighter.reshape(-1, brighter.shape[2]).astype(np.float16),
        crops=NearCrops(names, EMBEDDING.windows(held), np.stack([small_pixels(photo) for photo in held])),
        alterations=EMBEDDING,
    )

    def found(photos: Sequence[Image.Image]) -> dict[int, str]:
        check = LeakCheck(protected, **readers({str(place): photo for place, photo in enumerate(photos)}))
        kept = list(check.without_leaks([Item(str(n), images=[str(n)]) for n in range(len(photos))], lambda item: item))
        report = check.report()
        assert report.examples - len(kept) == report.counts[NEAR_IMAGE]
        return {int(pair.example): pair.protected for pair in report.pairs}

    assert found(others) == {}
    for name, alter in ALTERED.items():
        of_copies = found([resaved(alter(photo)) for photo in held])
        assert of_copies.items() <= dict(enumerate(names)).items()
        # Of parts and of images in frames, a few are missed; docs/training.md has the figures.
        missed = next((most for part, most in {"three quarters": 1, "frame": 3}.items() if part in name), 0)
        assert len(of_copies) >= len(held) - missed
        assert found([resaved(alter(photo)) for photo in others]) == {}


@needs_real_data
def test_of_real_captions_few_about_other_photos_are_flagged() -> None:
    """1,000 photos of RoCOCO, five captions each, against SugarCrepe. Both name the photos, all from COCO.

    The equal captions were counted without this code, too: by lower-case words of a regular expression. So were 12 of
    ten words or more with two other words, of which 11 are not near otherwise.
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
    assert (others.examples, others.counts[SAME_CAPTION], others.counts[NEAR_CAPTION]) == (4465, 13, 57)

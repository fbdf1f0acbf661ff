"""Measure which altered copies of protected images and captions the check for leaks finds.

    python -m benchmarks.altered_copies ../shared/data

Half of the photos, of as many drawn scenes and of other images are protected. Of each kind of change, all protected
ones are changed and checked as examples; FOLDER has the images, and SugarCrepe's and RoCOCO's captions. False alarms
are examples that are no copies: the other half, and captions of photos that the protected captions are not about.

The limits of the check were chosen on the photos and drawn scenes, so only the other images are an independent result:
generated images, photos of COCO and one frame of each video, of other sources than the photos. The limits for captions
with two words replaced were chosen on one half of RoCOCO's photos, and the other half is told.
"""

import argparse
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
from PIL import Image, ImageEnhance, ImageFilter, ImageOps

from making.texts import words_of
from predictions.image_sets.embeddings import GAINS, ColourAndGradient, Vectors
from simulation.demo.pictures import draw_scene
from simulation.demo.scenes import describe_instances
from training.frames import without_frame
from training.leaks import NEAR_CAPTION, NEAR_IMAGE, SAME_CAPTION, Item, LeakCheck, Protected
from training.near_captions import TWO_FROM
from training.near_crops import NearCrops, Pixels, small_pixels
from training.source_ids import source_ids

EMBEDDING = ColourAndGradient()
SIZES = (0.95, 0.9, 0.8, 0.75, 0.7, 0.65, 0.6)
Change = Callable[[Image.Image, Random], Image.Image]
# Photos that show again what another shows, perhaps mirrored, are left out.
SAME_SIGHT = 0.9
SCENES_PER_CATEGORY, SCENE_SIDE = 38, 256
CAPTIONS = 1500


def part(least: float, most: float, picture: Image.Image, dice: Random) -> Image.Image:
    """Return a part of a picture, each side between these shares, anywhere."""
    width, height = (dice.uniform(least, most) for _ in range(2))
    left, top = dice.random() * (1 - width), dice.random() * (1 - height)
    across, down = picture.size
    return picture.crop(
        (round(left * across), round(top * down), round((left + width) * across), round((top + height) * down))
    )


def brighter(gain: float, picture: Image.Image, dice: Random) -> Image.Image:
    return ImageEnhance.Brightness(picture).enhance(gain)


def both(gain: float, picture: Image.Image, dice: Random) -> Image.Image:
    return brighter(gain, part(0.75, 0.75, picture, dice), dice)


def framed(share: int, colour: str, picture: Image.Image, dice: Random) -> Image.Image:
    return ImageOps.expand(picture, picture.width * share // 100, colour)


CHANGES: Mapping[str, Change] = {
    "half the size": lambda picture, _: picture.resize((picture.width // 2, picture.height // 2)),
    "mirrored": lambda picture, _: ImageOps.mirror(picture),
    "turned by 90 degrees": lambda picture, _: picture.rotate(90, expand=True),
    "turned by 180 degrees": lambda picture, _: picture.rotate(180),
    "turned by 270 degrees and mirrored": lambda picture, _: ImageOps.mirror(picture.rotate(270, expand=True)),
    "turned by 90 degrees, grey": lambda picture, _: picture.rotate(90, expand=True).convert("L").convert("RGB"),
    "grey": lambda picture, _: picture.convert("L").convert("RGB"),
    **{f"brightness x {gain}": partial(brighter, gain) for gain in (0.5, 0.7, 0.85, 1.15, 1.3, 1.5, 1.8)},
    "contrast x 0.7": lambda picture, _: ImageEnhance.Contrast(picture).enhance(0.7),
    "contrast x 1.4": lambda picture, _: ImageEnhance.Contrast(picture).enhance(1.4),
    "colours x 0.5": lambda picture, _: ImageEnhance.Color(picture).enhance(0.5),
    "blurred by 2 pixels": lambda picture, _: picture.filter(ImageFilter.GaussianBlur(2)),
    **{f"{100 * size:.0f} % of each side": partial(part, size, size) for size in SIZES},
    "70 to 100 % of each side": partial(part, 0.7, 1),
    "75 % of each side, mirrored": lambda picture, dice: ImageOps.mirror(part(0.75, 0.75, picture, dice)),
    "75 % of each side, grey": lambda picture, dice: part(0.75, 0.75, picture, dice).convert("L").convert("RGB"),
    "75 % of each side, brightness x 0.8": partial(both, 0.8),
    "75 % of each side, brightness x 1.2": partial(both, 1.2),
    "turned by 3 degrees": lambda picture, _: picture.rotate(3),
    **{
        f"in a {colour} frame of {share} %": partial(framed, share, colour)
        for share in (2, 5, 10, 20)
        for colour in ("white", "black", "grey")
    },
    "between black bars of 15 %": lambda picture, _: ImageOps.expand(picture, (0, picture.height * 3 // 20), "black"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    every = {
        "photos": list(photos(folder)),
        "drawn scenes": list(scenes()),
        "other images": list(other_images(folder)),
    }
    columns = {name: images_found(pictures) for name, pictures in every.items()}
    print(f"| change | {' | '.join(every)} |\n| --- | {'---: | ' * len(every)}")
    for change in next(iter(columns.values())):
        print(f"| {change} | {' | '.join(column[change] for column in columns.values())} |")
    print("\n| change of a caption | found |\n| --- | ---: |")
    for change, found in captions_found(folder).items():
        print(f"| {change} | {found} |")


def photos(folder: Path) -> Iterable[Image.Image]:
    return different((folder / "images/photos").glob("*.jpg"))


def other_images(folder: Path) -> Iterable[Image.Image]:
    """Return images of no source that the photos have."""
    images = folder / "images"
    files = [*images.glob("best_of_4/*/*"), *images.glob("pairs/*/*")]
    files += [min(each.iterdir()) for each in images.glob("sets_of_10/intel-*")]
    return different(file for file in files if file.suffix in {".jpg", ".png", ".webp"})


def different(files: Iterable[Path]) -> Iterable[Image.Image]:
    """Return the images of files, but those that show again what another one shows."""
    found = []
    for file in sorted(files):
        with Image.open(file) as opened:
            found.append(opened.convert("RGB"))
    vectors = EMBEDDING.embed(found)
    alike = np.maximum(vectors @ vectors.T, vectors @ EMBEDDING.mirrored(vectors).T) > SAME_SIGHT
    return (each for place, each in enumerate(found) if not alike[place, :place].any())


def scenes() -> Iterable[Image.Image]:
    for one in describe_instances(seed="copies", per_category=SCENES_PER_CATEGORY):
        yield draw_scene(one.scene, seed=one.key).resize((SCENE_SIDE, SCENE_SIDE))


def images_found(pictures: Sequence[Image.Image]) -> Mapping[str, str]:
    """Return change -> how many of the protected pictures are found when they are changed so; and of the others."""
    held, others, dice = pictures[::2], pictures[1::2], Random(1)
    names = [f"held {place}" for place in range(len(held))]
    altered = EMBEDDING.brighter(held)
    protected = Protected(
        [Item(name, images=[name]) for name in names],
        images=names,
        vectors=EMBEDDING.embed(held),
        brightened=[name for name in names for _ in GAINS],
        brighter=altered.reshape(-1, altered.shape[2]),
        crops=NearCrops(names, EMBEDDING.windows(held), np.stack([small_pixels(each) for each in held])),
        alterations=EMBEDDING,
    )

    def right(copies: Sequence[Image.Image]) -> str:
        saved = {str(place): _saved(copy) for place, copy in enumerate(copies)}
        check = LeakCheck(
            protected,
            vectors_of=lambda some: dict(zip(some, EMBEDDING.embed([saved[one] for one in some]), strict=True)),
            pixels_of=lambda some: {one: small_pixels(saved[one]) for one in some},
            unframed_of=lambda some: unframed(some, saved),
        )
        kept = list(check.without_leaks([Item(name, images=[name]) for name in saved], lambda item: item))
        assert check.report().counts[NEAR_IMAGE] == len(copies) - len(kept)
        return f"{100 * (1 - len(kept) / len(copies)):.0f} % of {len(copies)}"

    found = {name: right([change(picture, dice) for picture in held]) for name, change in CHANGES.items()}
    return found | {"**no copy**": right([change(one, dice) for one in others for change in (*CHANGES.values(),)[::6]])}


def unframed(names: Sequence[str], pictures: Mapping[str, Image.Image]) -> Mapping[str, tuple[Vectors, Pixels]]:
    insides = {name: without_frame(pictures[name]) for name in names}
    return {
        name: (EMBEDDING.embed([each])[0], small_pixels(each)) for name, each in insides.items() if each is not None
    }


def _saved(picture: Image.Image) -> Image.Image:
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=80)
    return Image.open(file).convert("RGB")


def captions_found(folder: Path) -> Mapping[str, str]:
    """Return change -> how many of SugarCrepe's captions are found when they are changed so; and of other photos."""
    held: dict[str, list[str]] = {}
    rows: list[Item] = []
    for file in sorted((folder / "sugarcrepe").glob("*.json")):
        for key, case in json.loads(file.read_text(encoding="utf-8")).items():
            captions = [case["caption"], case["negative_caption"]]
            held.setdefault(case["filename"], []).extend(captions)
            # As instances of a project: a row each, several of one photo.
            rows.append(Item(f"{file.stem}/{key}", captions, sources=source_ids([case["filename"]]), of="sugarcrepe"))
    protected = Protected(rows)
    dice = Random(1)
    every = [words_of(caption) for captions in held.values() for caption in captions]
    some = [words for words in dice.sample(every, 2 * CAPTIONS) if len(words) > 6][:CAPTIONS]
    vocabulary = sorted({word for words in every for word in words})

    def swapped(words: list[str]) -> list[str]:
        one, other = dice.sample(range(len(words)), 2)
        words = list(words)
        words[one], words[other] = words[other], words[one]
        return words

    def without(words: list[str]) -> list[str]:
        place = dice.randrange(len(words))
        return words[:place] + words[place + 1 :]

    def with_another(words: list[str], times: int = 1) -> list[str]:
        words = list(words)
        for place in dice.sample(range(len(words)), times):
            words[place] = dice.choice(vocabulary)
        return words

    changes: Mapping[str, Callable[[list[str]], list[str]]] = {
        "two words swapped": swapped,
        "a word left out": without,
        "a word added": lambda words: [*words[:2], dice.choice(vocabulary), *words[2:]],
        "a word replaced": with_another,
    }
    long, short = ([words for words in some if (len(words) >= TWO_FROM) is is_long] for is_long in (True, False))
    found = {name: _leaking(protected, [" ".join(change(words)) for words in some]) for name, change in changes.items()}
    for name, of_length in ((f"two words replaced, of {TWO_FROM} or more", long), ("two of fewer replaced", short)):
        found[name] = _leaking(protected, [" ".join(with_another(words, 2)) for words in of_length])
    rococo = json.loads((folder / "rococo/danger.json").read_text(encoding="utf-8"))
    Random(28).shuffle(rococo)
    # The first half is the one on which the limits for two words were chosen.
    others, told = (
        [photo["caption"][:5] for photo in half if photo["image"].rpartition("_")[2] not in held]
        for half in (rococo, rococo[len(rococo) // 2 :])
    )
    of_scenes = [(one.scene.caption, one.negative.caption) for one in describe_instances(seed="c", per_category=75)]
    of_drawn = Protected(Item(str(place), captions) for place, captions in enumerate(of_scenes[::2]))
    return found | {
        "**no copy**, of other photos": _leaking(protected, [caption for captions in others for caption in captions]),
        "**no copy**, of other photos, the half that was not looked at": _leaking(
            protected, [caption for captions in told for caption in captions]
        ),
        "**no copy**, of other drawn scenes": _leaking(of_drawn, [each for pair in of_scenes[1::2] for each in pair]),
    }


def _leaking(protected: Protected, captions: Sequence[str]) -> str:
    check = LeakCheck(protected)
    kept = list(check.without_leaks([Item("", [caption]) for caption in captions], lambda item: item))
    counts = check.report().counts
    return (
        f"{100 * (1 - len(kept) / len(captions)):.1f} % of {len(captions):,} "
        f"({counts[SAME_CAPTION]:,} the same, {counts[NEAR_CAPTION]:,} near)"
    )


if __name__ == "__main__":
    main()

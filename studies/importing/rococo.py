"""RoCOCO: photos of COCO with their captions, and each caption again with one word replaced so that it is wrong."""

from collections.abc import Iterator
from functools import partial
from pathlib import PurePath
from typing import Any, BinaryIO

from studies.importing.base import Record, RowProblem, SourceImage, check_record
from studies.importing.captions import retrieval
from studies.importing.rows import Row, read_each, read_json_list, text_of

# Replacement of a word: same concept, different concept, random word, or danger.
POLICIES = ("same_concept", "diff_concept", "rand_voca", "danger")
# Number of altered captions per image; they come last.
ALTERED = 5
# Role -> folder next to that of the photos, with an altered image of the same file name.
MADE_OF_IMAGES = {"mixed": "mix_0.9", "patched": "patch_0.9"}


def read(stream: BinaryIO) -> Iterator[Record | RowProblem]:
    """Yield a record per caption. The key is file name, photo number and caption number, "danger/7/0".

    The k-th altered caption belongs to the k-th caption of the image; a sixth caption has none. Mixed and patched
    images are included if their files exist.
    """
    name = PurePath(str(getattr(stream, "name", ""))).name.removesuffix(".json")
    if name not in POLICIES:
        yield RowProblem(
            0,
            "",
            f"Its name {name!r} does not say how the captions are altered. Name it as RoCOCO does: "
            f"{', '.join(f'{policy}.json' for policy in POLICIES)}.",
        )
        return
    yield from read_each(read_json_list(stream), partial(_read_image, policy=name))


def _read_image(item: Row, policy: str) -> Iterator[Record | RowProblem]:
    row, fields = item
    problems: list[RowProblem] = []
    image = text_of(row, fields, "image", problems)
    if not image.strip() and not problems:
        problems.append(RowProblem(row, "image", "No image is named."))
    captions: Any = fields.get("caption")
    if not isinstance(captions, list) or not all(isinstance(text, str) for text in captions):
        problems.append(RowProblem(row, "caption", "The field must be a list of texts."))
    elif len(captions) < 2 * ALTERED:
        sentence = (
            f"The list has {len(captions)} captions; of an image there are {ALTERED} or more and {ALTERED} altered."
        )
        problems.append(RowProblem(row, "caption", sentence))
    yield from problems or _records(row, policy, image, captions)


def _records(row: int, policy: str, image: str, captions: list[Any]) -> Iterator[Record | RowProblem]:
    original, altered = captions[:-ALTERED], captions[-ALTERED:]
    photo = PurePath(image)
    images = [SourceImage(role="image", filename=image)]
    images += [
        SourceImage(role=role, filename=f"{folder}/{photo.name}", optional=True)
        for role, folder in MADE_OF_IMAGES.items()
    ]
    for number, caption in enumerate(original):
        texts = {"caption": caption}
        subtype = "unaltered"
        if number < ALTERED:
            texts["negative_caption"] = altered[number]
            subtype = "unchanged" if retrieval(caption) == retrieval(altered[number]) else "altered"
        yield from check_record(
            Record(
                row=row,
                key=f"{policy}/{photo.stem}/{number}",
                captions=texts,
                images=images,
                type=policy,
                subtype=subtype,
                reference={"coco": photo.name},
            )
        )

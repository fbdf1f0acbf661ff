"""Tell from the names of images which photo, video or image set of a public source they are. Pure."""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from predictions.image_sets.videos import video_of
from studies.importing.folders import number_of, parse_place
from studies.importing.parts import parse_part

# 000000219578.jpg of COCO 2017, COCO_val2014_000000391895.jpg of COCO 2014.
_COCO = re.compile(r"(?:COCO_[a-z]+\d{4}_)?(\d{12})")
# A photo's file or page on Flickr: 1007129816_e794419615.jpg, flickr.com/photos/somebody/1007129816.
_FLICKR_FILE = re.compile(r"(\d{6,12})_[0-9a-f]{10}(?:_[a-z])?")
_FLICKR_PAGE = re.compile(r"/photos/[^/]+/(\d{6,12})(?:/|$)")
_OPEN_IMAGES = re.compile(r"(?:open-images-\d+_)?([0-9a-f]{16})")
_NUMBER = re.compile(r"\d{1,12}")
# Sources whose files are named by numbers alone: only their folders tell what they are.
_NUMBERED = {
    "flickr30k": "flickr",
    "flickr30k-images": "flickr",
    "flickr30k_images": "flickr",
    "flickr8k": "flickr",
    "vg": "visual-genome",
    "vg_100k": "visual-genome",
    "vg_100k_2": "visual-genome",
    "visual_genome": "visual-genome",
    "gqa": "visual-genome",
}


def source_ids(names: Iterable[str]) -> list[str]:
    """Return the ids that names or addresses of images contain, each once, such as `coco:219578`.

    Known are photos of COCO, Flickr (Flickr30k), Visual Genome and Open Images, image sets and their videos. An image
    that was generated for a photo, such as `0_000000219578_2.jpg` of BiVLC, is not that photo.
    """
    return list(dict.fromkeys(each for name in names for each in _ids_of(name)))


def _ids_of(name: str) -> Iterator[str]:
    if "://" in name:
        parts = urlsplit(name)
        if (parts.hostname or "").endswith("flickr.com") and (page := _FLICKR_PAGE.search(parts.path)):
            yield f"flickr:{page[1]}"
            return
        name = parts.path
    if (place := parse_place(name)) is not None:
        yield from _set_ids(place.folder)
        return
    part = parse_part(name)
    path = PurePosixPath(part.file if part else name)
    if number_of(path.name) is not None and path.parent.name:
        yield from _set_ids(path.parent.name)
    elif coco := _COCO.fullmatch(path.stem):
        yield f"coco:{int(coco[1])}"
    elif flickr := _FLICKR_FILE.fullmatch(path.stem):
        yield f"flickr:{int(flickr[1])}"
    elif picture := _OPEN_IMAGES.fullmatch(path.stem):
        yield f"open-images:{picture[1]}"
    elif _NUMBER.fullmatch(path.stem):
        source = next((_NUMBERED[each.lower()] for each in path.parts[:-1] if each.lower() in _NUMBERED), None)
        if source is not None:
            yield f"{source}:{int(path.stem)}"


def _set_ids(folder: str) -> Iterator[str]:
    folder = PurePosixPath(folder).name
    yield f"image-set:{folder}"
    if (video := video_of(folder)) != folder:
        yield f"video:{video}"

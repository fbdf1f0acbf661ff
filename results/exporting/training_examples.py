"""Examples to train models on, from accepted items."""

from results.exporting.pairs import pictures_of
from results.exporting.rows import AcceptedInstance
from studies.descriptions import SET, VIDEO
from training.examples import Example
from training.leaks import Item
from training.source_ids import source_ids

# Roles of the image and the description of a part of an instance.
IMAGE, CAPTION = "image", "caption"


def example_of(row: AcceptedInstance) -> Example | None:
    """Return the example that an accepted item is, its images by SHA-256; None if it lacks an image or its caption."""
    return _description(row) if row.item else _pair(row)


def _pair(row: AcceptedInstance) -> Example | None:
    pictures, captions = pictures_of(row), row.pair_captions
    if "image" not in pictures or not captions["caption"]:
        return None
    return Example(
        row.name,
        tuple(pictures.values()),
        tuple(caption for caption in captions.values() if caption),
        None,
        row.type,
        row.subtype,
    )


def _description(row: AcceptedInstance) -> Example | None:
    shown = sorted((image for image in row.images if image.role == SET), key=lambda image: image.position)
    images = tuple(image.sha256 for image in shown if image.sha256)
    target = next((image.sha256 for image in row.images if image.role == IMAGE), None)
    text = row.captions.get(CAPTION, "")
    if len(images) < len(shown) or target not in images or not text:
        return None
    return Example(row.name, images, (text,), images.index(target), row.type, row.subtype, row.type == VIDEO)


def item_of(row: AcceptedInstance, name: str, instance: str, project: str) -> Item:
    """Return what a check for leaks compares of an accepted item. `instance`: the id of its instance among sources."""
    names = (each for image in row.images for each in (image.filename, image.source))
    return Item(
        name,
        [caption for caption in row.captions.values() if caption],
        [image.sha256 for image in row.images if image.sha256],
        [instance, *source_ids(filter(None, names))],
        of=project,
    )

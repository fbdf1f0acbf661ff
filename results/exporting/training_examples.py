"""Examples to train models on, from accepted items."""

from results.exporting.pairs import pictures_of
from results.exporting.rows import AcceptedInstance
from studies.descriptions import SET, VIDEO
from training.examples import Example

# Names of splits, in lower case. All others, such as test, are never trained on.
FOR_TRAINING = frozenset({"", "train", "training"})
FOR_VALIDATION = frozenset({"val", "valid", "validation", "dev"})
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

"""What can be answered to the questions of each kind, as the kinds say of a question with four images or two texts."""

from collections.abc import Mapping
from dataclasses import replace

from results.reports.facts import LabelSpace
from studies.kinds import get_kind

NONE = LabelSpace(
    options=("candidate-0", "candidate-1", "candidate-2", "candidate-3", "none"),
    last=("none",),
    names={"none": "None of these"},
    groupings=get_kind("best_of_n").label_groupings({}),
)
BOTH = LabelSpace(
    options=("original", "generated", "both"),
    last=("both",),
    names={"both": "Both"},
    groupings=get_kind("ambiguity").label_groupings({}),
)
CAPTIONS = LabelSpace(options=("caption", "negative_caption"))
IMAGES = LabelSpace(options=("image", "negative_image"))
KINDS: Mapping[str, LabelSpace] = {
    "best_of_n": NONE,
    "ambiguity": BOTH,
    "image_to_text": CAPTIONS,
    "text_to_image": IMAGES,
}


def with_options(kind: str, *options: str) -> LabelSpace:
    """Return what can be answered to questions of `kind` that offer `options`."""
    return replace(KINDS[kind], options=options)

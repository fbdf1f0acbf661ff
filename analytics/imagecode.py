"""Counts of the ImageCoDe tables: sets and descriptions by source, and phenomena coded in descriptions."""

from collections import Counter
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass

from analytics.scores import Score

STATIC_SOURCE = "open-images"
SOURCES = (STATIC_SOURCE, "MSR-VTT", "video-storytelling", "YouCook")
# Of the phenomena of table 2 of the paper, four were coded for the first 1,002 descriptions, the others for the first
# 200 of these only.
CODED_WIDELY, CODED_NARROWLY = 1002, 200
WIDE_CODES = ("con", "v", "n", "neg")


@dataclass(frozen=True)
class SetCounts:
    """How many sets of ten images and how many descriptions; static sets are single photographs, the others video."""

    sets: int
    descriptions: int
    static_sets: int
    static_descriptions: int
    sets_by_source: dict[str, int]

    @property
    def video_sets(self) -> int:
        return self.sets - self.static_sets

    @property
    def video_descriptions(self) -> int:
        return self.descriptions - self.static_descriptions


def count_sets(descriptions: Mapping[str, Sized]) -> SetCounts:
    """Count sets and descriptions (Krojer et al. 2022, table 1).

    descriptions: the descriptions of each directory, by index as in labelled files or listed as in unlabelled ones.
    Raises ValueError for a directory whose name starts with none of `SOURCES`.
    """
    sources = {directory: source_of(directory) for directory in descriptions}
    static = [directory for directory, source in sources.items() if source == STATIC_SOURCE]
    return SetCounts(
        sets=len(descriptions),
        descriptions=sum(len(texts) for texts in descriptions.values()),
        static_sets=len(static),
        static_descriptions=sum(len(descriptions[directory]) for directory in static),
        sets_by_source=dict(Counter(sources.values())),
    )


def source_of(directory: str) -> str:
    """Return the source of an image set, by the prefix of its directory; raises ValueError if unknown."""
    for source in SOURCES:
        if directory.startswith(f"{source}-"):
            return source
    raise ValueError(f"{directory!r} starts with none of {', '.join(SOURCES)}.")


def phenomenon(annotations: Sequence[str], code: str) -> Score:
    """Count the coded descriptions that show a phenomenon (Krojer et al. 2022, table 2).

    annotations: one comma list of codes per description, in the order of the file; empty items are skipped, because
        some lists begin with a comma. code: one of the file's codes.
    The count is out of the descriptions that were coded for it: the first 1,002 or the first 200.

    Example: ["s,q", ",s", ""] shows "s" in 2 of 3.
    """
    coded = annotations[: CODED_WIDELY if code in WIDE_CODES else CODED_NARROWLY]
    codes = [{one.strip() for one in annotation.split(",")} for annotation in coded]
    return Score(sum(code in of_one for of_one in codes), len(coded))

"""Facts about a dataset for its card and its Croissant description."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class About:
    """What researchers wrote about a release; everything else is counted.

    `made_on`: an ISO date, or "". `kept_by`: the studies declared to keep the dataset of the project.
    """

    release: str = ""
    description: str = ""
    licence: str = ""
    citation: str = ""
    made_on: str = ""
    kept_by: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class DatasetCard:
    """Contents of a card. `body`: in Markdown, below the front matter; `size`: number of accepted items.

    `empty_formats`: formats that can hold none of its items -> why; empty in cards frozen by an older version.
    `splits`: split, "" for none -> its number of items; empty in cards frozen by an older version.
    `notice`: warns of simulated answers, "" if people gave all, and in cards frozen by an older version.
    """

    name: str
    title: str
    release: str = ""
    description: str
    licence: str = ""
    citation: str = ""
    made_on: str = ""
    size: int = 0
    splits: Mapping[str, int] = field(default_factory=dict)
    body: str = ""
    collection: str
    protocol: Sequence[str]
    annotations_per_item: str
    analysis: Sequence[str] = ()
    limits: Sequence[str]
    privacy: str
    notice: str = ""
    empty_formats: Mapping[str, str] = field(default_factory=dict)

"""What travels with a dataset beside its data: said once, written into its card and its description."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class About:
    """What people say about a release; everything else is counted.

    `made_on`: an ISO date, or "". `kept_by`: the studies that were declared to keep the dataset of the project.
    """

    release: str = ""
    description: str = ""
    licence: str = ""
    citation: str = ""
    made_on: str = ""
    kept_by: Sequence[str] = ()


@dataclass(frozen=True)
class Dossier:
    """`body` is the card below its front matter, in Markdown; `size` how many accepted items there are.

    `notice` says that a program gave answers, "" when all came from people, and where an older version froze it.
    """

    name: str
    title: str
    release: str
    description: str
    licence: str
    citation: str
    made_on: str
    size: int
    body: str
    collection: str
    protocol: Sequence[str]
    annotations_per_item: str
    analysis: Sequence[str]
    limits: Sequence[str]
    privacy: str
    notice: str = ""

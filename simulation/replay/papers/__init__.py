"""The tables of the five papers: what can be computed from released files, beside the published figures. Pure."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from simulation.replay.papers import aro, bivlc, imagecode, rococo, sugarcrepe
from simulation.replay.papers.base import PaperTable

PAPERS: Sequence[Callable[[Path], Iterator[PaperTable]]] = (
    bivlc.tables,
    imagecode.tables,
    sugarcrepe.tables,
    aro.tables,
    rococo.tables,
)


def paper_tables(folder: Path) -> list[PaperTable]:
    """Return the tables of all papers, from the released files in `folder`. Raises errors of files that are wrong.

    folder: has a folder for each paper, `bivlc` with `results`, `imagecode`, `sugarcrepe`, `aro` and `rococo`, with the
    files as the authors released them. What is not there is not computed.
    """
    return [table for paper in PAPERS for table in paper(folder)]

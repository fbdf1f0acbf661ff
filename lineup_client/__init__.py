"""Lineup from a script: everything that researchers do on its pages, by its API.

    from lineup_client import Lineup

    project = Lineup("https://lineup.example", "lineup_...").project("birds")
    project.instances.upload(rows, images={"a.png": Path("a.png")})
    study = project.studies.create(Path("study.yaml"))
    study.launch()
    study.responses().to_pandas()

It needs httpx, and pandas only where `to_pandas` is called. It knows nothing of the server but its addresses.
"""

from lineup_client.client import Lineup
from lineup_client.errors import LineupError, NotReached
from lineup_client.project import Export, Import, Instances, Predictions, Project, Studies, Study
from lineup_client.rows import Rows

__all__ = [
    "Export",
    "Import",
    "Instances",
    "Lineup",
    "LineupError",
    "NotReached",
    "Predictions",
    "Project",
    "Rows",
    "Studies",
    "Study",
]

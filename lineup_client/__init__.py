"""Lineup from a script: everything that researchers do on its pages, by its API.

    from lineup_client import Lineup

    project = Lineup("https://lineup.example", "lineup_...").project("birds")
    project.instances.upload(rows, images={"a.png": Path("a.png")})
    study = project.studies.create(Path("study.yaml"))
    study.launch()
    study.responses().to_pandas()

It needs httpx and, for `to_pandas`, pandas. It depends only on the server's API.
"""

from lineup_client.client import Lineup
from lineup_client.errors import LineupError, NotReached
from lineup_client.instances import Instances
from lineup_client.predictions import Predictions
from lineup_client.project import Project
from lineup_client.rows import Rows
from lineup_client.studies import Studies, Study
from lineup_client.training import Trainings
from lineup_client.waiting import Export, HubPush, Import, ModelPush, Run, Training
from lineup_client.webhooks import Webhooks

__all__ = [
    "Export",
    "HubPush",
    "Import",
    "Instances",
    "Lineup",
    "LineupError",
    "ModelPush",
    "NotReached",
    "Predictions",
    "Project",
    "Rows",
    "Run",
    "Studies",
    "Study",
    "Training",
    "Trainings",
    "Webhooks",
]

"""Launches studies in the database of DATABASE_URL: python -m tests.flows.launch_studies JSON...

Each argument is what `launch_study` takes, and how many image sets of ten are made before (`sets`).
"""

import json
import sys
from typing import Any

import django

django.setup()

from tests.factories import launch_study, make_instance, make_project


def launch_one(*, sets: int = 0, **design: Any) -> None:
    project = make_project()
    for number in range(sets):
        make_instance(project, f"set-{number}", candidates=10, type="static")
    launch_study(project, **design)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        launch_one(**json.loads(argument))

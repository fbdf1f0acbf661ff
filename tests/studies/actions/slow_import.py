"""The process of a worker that imports so slowly that a test can end it: `python -m ...slow_import JOB`."""

import sys
import time
from typing import Any
from unittest.mock import patch

import django

SECONDS_A_PICTURE = 0.1
SECONDS_TO_SAVE = 60
# Of the message: the broker gives the same one again when a process was lost.
MESSAGE = "the same message"


def main(job_id: int) -> None:
    django.setup()
    from django.utils import timezone

    from background.job_runner import run
    from studies.actions.images import check_and_store

    def slowly(*arguments: Any, **options: Any) -> Any:
        time.sleep(SECONDS_A_PICTURE)
        return check_and_store(*arguments, **options)

    def hang(*models: Any) -> None:
        time.sleep(SECONDS_TO_SAVE)

    with (
        patch("studies.actions.imports.importer.check_and_store", slowly),
        # The last thing but the event that is done in the transaction.
        patch("studies.actions.imports.importer.refresh_statistics", hang),
    ):
        run(job_id=job_id, message=MESSAGE, now=timezone.now)


if __name__ == "__main__":
    main(int(sys.argv[1]))

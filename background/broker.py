"""Celery's transport: files by default, Redis if CELERY_BROKER_URL names one.

Imports neither Django nor the settings, because workers without Django use it too.
"""

import uuid
from pathlib import Path
from time import time_ns
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps

EMBEDDED = "filesystem"
# A task unacknowledged for this long goes to another worker: longer than any task may run. All workers of a Redis
# server must use the same value, because each restores messages for all.
VISIBILITY_SECONDS = 2 * 3600

TRANSPORT_ALIASES[EMBEDDED] = f"{__name__}:Transport"


class Channel(filesystem.Channel):
    """Write each message beside the queue and move it in: a partial one would crash a worker."""

    def _put(self, queue: str, payload: Any, **_: Any) -> None:  # type: ignore[override]
        # Workers read messages in the order of their names; wall-clock time keeps increasing after a restart.
        name = f"{time_ns()}_{uuid.uuid4()}.{queue}.msg"
        unfinished = Path(self.processed_folder) / name
        unfinished.write_text(dumps(payload), encoding="utf-8")
        unfinished.rename(Path(self.data_folder_out) / name)


class Transport(filesystem.Transport):
    Channel = Channel


def transport_options(broker_url: str, folder: Path) -> dict[str, Any]:
    """Return the broker client's options; `folder` holds the messages of the embedded broker."""
    if not broker_url.startswith(EMBEDDED):
        return {"visibility_timeout": VISIBILITY_SECONDS, "socket_connect_timeout": 2, "socket_timeout": 10}
    folders = {name: folder / name for name in ("queue", "processed", "control")}
    for each in folders.values():
        each.mkdir(parents=True, exist_ok=True)
    return {
        "data_folder_in": str(folders["queue"]),
        "data_folder_out": str(folders["queue"]),
        "processed_folder": str(folders["processed"]),
        "control_folder": str(folders["control"]),
        "store_processed": False,
        "polling_interval": 0.3,
    }

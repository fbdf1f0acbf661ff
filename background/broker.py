"""How messages travel: through files by default, through Redis when CELERY_BROKER_URL names one.

Knows neither Django nor the settings: workers that have no Django use it as well.
"""

import uuid
from pathlib import Path
from time import time_ns
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps

EMBEDDED = "filesystem"
# A task unacknowledged for this long is given to another worker: longer than any task may run. All workers of a Redis
# must say the same, for each of them looks after the messages of all.
VISIBILITY_SECONDS = 2 * 3600

TRANSPORT_ALIASES[EMBEDDED] = f"{__name__}:Transport"


class Channel(filesystem.Channel):
    """Writes a message beside the queue and moves it in; the original lets a worker see it half written, and die."""

    def _put(self, queue: str, payload: Any, **_: Any) -> None:  # type: ignore[override]
        # Workers take messages in the order of their names; the clock of the day goes on after a restart.
        name = f"{time_ns()}_{uuid.uuid4()}.{queue}.msg"
        unfinished = Path(self.processed_folder) / name
        unfinished.write_text(dumps(payload), encoding="utf-8")
        unfinished.rename(Path(self.data_folder_out) / name)


class Transport(filesystem.Transport):
    Channel = Channel


def transport_options(broker_url: str, folder: Path) -> dict[str, Any]:
    """Return what the broker's client needs to know; `folder` is where the embedded broker keeps its messages."""
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

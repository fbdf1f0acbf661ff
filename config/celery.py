"""The Celery application: an embedded broker of files by default, Redis when CELERY_BROKER_URL names one."""

import os
from typing import Any

from celery import Celery
from celery.schedules import crontab

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings

EXPIRE_EVERY_MINUTES = 5


def _transport_options() -> dict[str, Any]:
    if not settings.CELERY_BROKER_URL.startswith("filesystem"):
        # A task unacknowledged for this long is given to another worker.
        return {"visibility_timeout": 3600}
    folders = {name: settings.BROKER_DIR / name for name in ("queue", "processed", "control")}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    return {
        "data_folder_in": str(folders["queue"]),
        "data_folder_out": str(folders["queue"]),
        "processed_folder": str(folders["processed"]),
        "control_folder": str(folders["control"]),
        "store_processed": False,
    }


app = Celery("lineup")
app.conf.update(
    broker_url=settings.CELERY_BROKER_URL,
    broker_transport_options=_transport_options(),
    broker_connection_retry_on_startup=True,
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    task_time_limit=3600,
    task_soft_time_limit=3540,
    task_default_queue="default",
    task_routes={"predictions.*": {"queue": "gpu"}},
    timezone="UTC",
    beat_schedule={
        "give back what lapsed": {
            "task": "annotation.expire_sessions",
            "schedule": crontab(minute=f"*/{EXPIRE_EVERY_MINUTES}"),
        },
    },
)
app.autodiscover_tasks()

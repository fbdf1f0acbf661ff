"""The Celery application: an embedded broker of files by default, Redis if CELERY_BROKER_URL names one."""

import logging
import os
from typing import Any

from celery import Celery
from celery.schedules import crontab
from celery.signals import after_setup_logger, after_setup_task_logger

from background.broker import transport_options

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings

from config.logs import mask_handlers

EVERY_MINUTE = crontab()
EVERY_FIVE_MINUTES = crontab(minute="*/5")
EVERY_HOUR = crontab(minute="17")

app = Celery("lineup")
app.conf.update(
    broker_url=settings.CELERY_BROKER_URL,
    broker_transport_options=transport_options(settings.CELERY_BROKER_URL, settings.BROKER_DIR),
    broker_connection_retry_on_startup=True,
    # A page waits this long for an unreachable broker.
    task_publish_retry_policy={"max_retries": 1, "interval_start": 0.2},
    task_ignore_result=True,
    worker_prefetch_multiplier=1,
    task_default_queue="default",
    timezone="UTC",
    # All periodic tasks run at least hourly, so no schedule file is needed, which a kill could cut off.
    beat_scheduler="celery.beat:Scheduler",
    beat_schedule={
        "give back what lapsed": {"task": "annotation.expire_sessions", "schedule": EVERY_MINUTE},
        "note which studies have all their answers": {
            "task": "workspace.note_completed",
            "schedule": EVERY_MINUTE,
            "options": {"expires": 60},
        },
        # While all workers are busy, only the last of these messages matters.
        "go on with jobs whose worker was lost": {
            "task": "background.resume_jobs",
            "schedule": EVERY_MINUTE,
            "options": {"expires": 60},
        },
        "send again what models were to score": {
            "task": "predictions.send_again",
            "schedule": EVERY_MINUTE,
            "options": {"expires": 60},
        },
        "look for near duplicates of new pictures": {
            "task": "predictions.look_for_near_duplicates",
            "schedule": EVERY_FIVE_MINUTES,
            "options": {"expires": 300},
        },
        "make exports that the version before was asked for": {
            "task": "results.resume_exports",
            "schedule": EVERY_FIVE_MINUTES,
        },
        "send what webhooks are to be told": {
            "task": "workspace.deliver",
            "schedule": EVERY_MINUTE,
            "options": {"expires": 60},
        },
        "look for news that webhooks are to be told": {
            "task": "workspace.note_news",
            "schedule": EVERY_FIVE_MINUTES,
            "options": {"expires": 300},
        },
        "delete what was uploaded a week ago": {"task": "studies.discard_uploads", "schedule": EVERY_HOUR},
        "forget browsers that are signed out": {"task": "workspace.forget_sessions", "schedule": EVERY_HOUR},
        "delete pictures that nobody used for a month": {"task": "workspace.discard_images", "schedule": EVERY_HOUR},
        "delete files that hold answers of people who withdrew": {
            "task": "results.discard_files",
            "schedule": EVERY_FIVE_MINUTES,
        },
    },
)
app.autodiscover_tasks()


@after_setup_logger.connect
@after_setup_task_logger.connect
def mask_worker_log(logger: logging.Logger, **_: Any) -> None:
    """Add the masking filters: Celery replaces the handlers of the settings by its own."""
    mask_handlers(logger)

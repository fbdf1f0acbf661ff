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

from config.capacity import read_processes
from config.logs import mask_handlers

EVERY_15_SECONDS = 15
EVERY_MINUTE = crontab()
EVERY_FIVE_MINUTES = crontab(minute="*/5")
EVERY_HOUR = crontab(minute="17")
# What a task does: its name, when it is sent, and how many seconds a message may wait. One that waits longer is
# dropped: while all workers are busy, only the last message matters.
PERIODIC = {
    "give back what lapsed": ("annotation.expire_sessions", EVERY_MINUTE, None),
    "read studies on Prolific that are due": ("annotation.read_prolific_studies", EVERY_15_SECONDS, 15),
    "verify arrivals by Prolific, and connect its webhooks": ("annotation.follow_prolific", EVERY_MINUTE, 60),
    "send payments": ("annotation.send_payments", EVERY_MINUTE, 60),
    "delete old webhooks of Prolific": ("annotation.forget_webhooks", EVERY_HOUR, None),
    "update participant groups on Prolific": ("annotation.update_prolific_people", EVERY_FIVE_MINUTES, 300),
    "note which studies have all their answers": ("workspace.note_completed", EVERY_MINUTE, 60),
    "check the policies of studies": ("workspace.check_policies", EVERY_MINUTE, 60),
    "go on with jobs whose worker was lost": ("background.resume_jobs", EVERY_MINUTE, 60),
    "send again what models were to score": ("predictions.send_again", EVERY_MINUTE, 60),
    "send again what models were to make": ("making.send_again", EVERY_MINUTE, 60),
    "ask again who was to train": ("training.send_again", EVERY_MINUTE, 60),
    "delete examples that nobody trains on": ("training.discard_examples", EVERY_HOUR, None),
    "ask again for weights to push": ("workspace.push_weights_again", EVERY_HOUR, None),
    "delete weights of deleted training runs": ("training.ask_to_discard", EVERY_HOUR, None),
    "look for near duplicates of new pictures": ("predictions.look_for_near_duplicates", EVERY_FIVE_MINUTES, 300),
    "make exports that the version before was asked for": ("results.resume_exports", EVERY_FIVE_MINUTES, None),
    "flag sessions whose answers changed": ("results.flag_new_answers", EVERY_MINUTE, 60),
    "send what webhooks are to be told": ("workspace.deliver", EVERY_MINUTE, 60),
    "look for news that webhooks are to be told": ("workspace.note_news", EVERY_FIVE_MINUTES, 300),
    "delete what was uploaded a week ago": ("studies.discard_uploads", EVERY_HOUR, None),
    "mail links to people of panels": ("workspace.mail_panel_links", EVERY_MINUTE, 60),
    "send messages to annotators": ("workspace.send_person_messages", EVERY_MINUTE, 60),
    "forget browsers that are signed out": ("workspace.forget_sessions", EVERY_HOUR, None),
    "delete old ids of annotators": ("annotation.delete_old_ids", EVERY_HOUR, None),
    "delete projects whose time has come": ("workspace.delete_projects", EVERY_FIVE_MINUTES, 300),
    "delete pictures that nobody used for a month": ("workspace.discard_images", EVERY_HOUR, None),
    "delete files that hold answers of people who withdrew": ("results.discard_files", EVERY_FIVE_MINUTES, None),
    "delete files of exports that were never noted": ("results.discard_orphans", EVERY_HOUR, None),
}

app = Celery("lineup")
app.conf.update(
    broker_url=settings.CELERY_BROKER_URL,
    broker_transport_options=transport_options(settings.CELERY_BROKER_URL, settings.BROKER_DIR),
    broker_connection_retry_on_startup=True,
    # A page waits this long for an unreachable broker.
    task_publish_retry_policy={"max_retries": 1, "interval_start": 0.2},
    task_ignore_result=True,
    worker_prefetch_multiplier=1,
    worker_concurrency=read_processes().celery,
    task_default_queue="default",
    timezone="UTC",
    # All periodic tasks run at least hourly, so no schedule file is needed, which a kill could cut off.
    beat_scheduler="background.celery_clock:CheckedScheduler",
    beat_schedule={
        name: {"task": task, "schedule": schedule, "options": {"expires": seconds}}
        for name, (task, schedule, seconds) in PERIODIC.items()
    },
)
app.autodiscover_tasks()
# Named, because a web process does not need what it imports.
app.steps["consumer"].add("background.celery_clock:CheckClock")


@after_setup_logger.connect
@after_setup_task_logger.connect
def mask_worker_log(logger: logging.Logger, **_: Any) -> None:
    """Add the filters that mask secrets: Celery replaces the handlers of the settings with its own."""
    mask_handlers(logger)

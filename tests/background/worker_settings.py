"""The settings of a worker process that knows the work of these tests too."""

from config.settings import *  # noqa: F403
from config.settings import JOBS as JOBS_OF_THE_SITE
from tests.background import WORK

JOBS = JOBS_OF_THE_SITE | WORK

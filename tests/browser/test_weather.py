"""Nothing is lost in any weather, and the page never says otherwise: see tests/browser/weather.py."""

import logging
import os
import random

import pytest
from django.utils import timezone
from playwright.sync_api import Browser
from pytest_django.live_server_helper import LiveServer

from tests.browser.weather import QUESTIONS_ABOUT_A_THING, Walk, open_all_kinds, walk
from tests.factories import arrive_at_work

logger = logging.getLogger(__name__)
# A long walk, with what was walked in numbers: WEATHER_WALKS=20 WEATHER_STEPS=200 WEATHER_SEED=100 pytest -rP
# tests/browser/test_weather.py walks on from one seed to the next.
WALKS = int(os.environ.get("WEATHER_WALKS", "1"))
FIRST_SEED = int(os.environ.get("WEATHER_SEED", "1"))
STEPS = int(os.environ.get("WEATHER_STEPS", "26"))


@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + WALKS))
def test_no_answer_is_dropped_untold(browser: Browser, live_server: LiveServer, seed: int) -> None:
    # Few about each kind, so that a short walk comes to several.
    things = max(1, STEPS // 2 // QUESTIONS_ABOUT_A_THING)
    session = arrive_at_work(open_all_kinds(things=things), now=timezone.now())
    walked = walk(lambda: Walk(browser, live_server.url, session, random.Random(seed)), steps=STEPS)
    logger.info(walked.summary)
    assert walked.presses
    assert not walked.differences(), "\n".join([*walked.differences(), *walked.report])

"""Nothing is lost in any weather, and the page never says otherwise: see tests/browser/weather.py."""

import os
import random

import pytest
from django.utils import timezone
from playwright.sync_api import Browser
from pytest_django.live_server_helper import LiveServer

from tests.browser.stage import open_study
from tests.browser.weather import Walk, walk
from tests.factories import arrive_at_work

# WEATHER_WALKS=40 WEATHER_SEED=100 walks on from one seed to the next.
WALKS = int(os.environ.get("WEATHER_WALKS", "1"))
FIRST_SEED = int(os.environ.get("WEATHER_SEED", "1"))
STEPS = int(os.environ.get("WEATHER_STEPS", "45"))


@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + WALKS))
def test_what_was_sent_last_is_what_is_stored(browser: Browser, live_server: LiveServer, seed: int) -> None:
    session = arrive_at_work(open_study(instances=60), now=timezone.now())
    walked = walk(lambda: Walk(browser, live_server.url, session, random.Random(seed)), steps=STEPS)
    assert walked.presses
    assert not walked.differences(), "\n".join([*walked.differences(), *walked.report])

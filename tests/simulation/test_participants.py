"""Participants of the local platform take part here through the real pages, and return with a code."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from annotation.actions.recruiting import prolific_studies
from annotation.models import ProlificAccount, Session, SessionState
from annotation.simulation_ids import SIMULATED_STUDY, is_simulated
from background.sealed_secrets import seal
from simulation.management.commands.prolific_participants import PAUSE
from simulation.participants import CannotPlay, Platform, play_participant
from simulation.prolific_double.server import WORKSPACE
from studies.models import Study
from tests.browser.stage import draw_all
from tests.factories import NOON, PROLIFIC_DRAFT, TESTS, fresh, launch_study
from tests.prolific import TOKEN, Local, local_platform

pytestmark = pytest.mark.django_db(transaction=True)


class Mood(random.Random):
    """Dice that show this first."""

    def __init__(self, shown: float) -> None:
        super().__init__(1)
        self.shown = shown

    def random(self) -> float:
        return self.shown


@pytest.fixture
def local(tmp_path: Path, settings: Settings, live_server: LiveServer) -> Iterator[Local]:
    with local_platform(tmp_path, study_prefix=SIMULATED_STUDY) as running:
        settings.PROLIFIC_ADDRESS = running.double.address
        settings.PROLIFIC_COMPLETION_URL = f"{running.double.address}/submissions/complete"
        settings.SITE_URL = live_server.url
        yield running


@pytest.fixture
def remote(local: Local) -> str:
    """A study that is published on the local platform, for 3 people of 4 questions each."""
    study = launch_study(answers=3, recruitment={"any_ids": False})
    draw_all((64, 64))
    ProlificAccount.objects.create(
        project=study.project, sealed_token=seal(TOKEN), user_id="5f00", workspace_id=WORKSPACE, saved_at=NOON
    )
    row = prolific_studies.write_draft(study=study, draft=PROLIFIC_DRAFT, by=TESTS, now=NOON)
    prolific_studies.publish(prolific_study=row, by=TESTS, now=NOON)
    return fresh(row).remote_id


def play(local: Local, remote: str, mood: float, pause: float = 0) -> str:
    platform = Platform(local.double.address, TOKEN)
    assert platform.running_studies() == [remote]
    arrivals: list[Study] = []
    return play_participant(platform, remote, dice=Mood(mood), pause=lambda: pause, on_arrival=arrivals.append)


@pytest.mark.parametrize(
    ("mood", "ended", "state", "status"),
    [
        (0.99, "completed", SessionState.FINISHED, "AWAITING REVIEW"),
        (0.20, "returned", SessionState.GIVEN_UP, "RETURNED"),
        (0.12, "stayed away", None, "RESERVED"),
        (0.05, "returned", None, "RETURNED"),
    ],
)
def test_a_participant_ends_as_people_do(
    local: Local, remote: str, mood: float, ended: str, state: SessionState | None, status: str
) -> None:
    assert play(local, remote, mood) == ended
    assert list(Session.objects.values_list("state", flat=True)) == ([state] if state else [])
    [submission] = local.client.list_submissions(remote)
    assert submission.status == status
    # Marked as simulated wherever their answers are shown.
    assert Session.objects.filter(is_simulated()).count() == (1 if state else 0)


def test_a_participant_who_pauses_as_in_the_demo_has_plausible_times(
    local: Local, remote: str, settings: Settings
) -> None:
    """Their browser reports the time that they took, so "Approve all" covers them."""
    settings.CHECK_TIMES = True
    assert play(local, remote, 0.99, pause=PAUSE[0]) == "completed"
    assert not Session.objects.get().has_unlikely_times


def test_nobody_comes_to_a_study_that_is_paused(local: Local, remote: str) -> None:
    local.client.pause_study(remote)
    assert Platform(local.double.address, TOKEN).running_studies() == []
    with pytest.raises(CannotPlay):
        Platform(local.double.address, TOKEN).do("take", study=remote)

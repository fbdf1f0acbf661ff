"""Participants of the local platform: they take places there, answer here through the real pages, and return.

They know the platform by HTTP alone. Some return at once, some never come, and some stop half way, as people do.
"""

import json
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from annotation.actions.arriving.entry_links import study_at
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import Connection
from annotation.recruitment.prolific.statuses import StudyStatus
from simulation.annotators import BrowserOverHttp, Page, SimulatedAnnotator, take_part
from studies.models import Study

TIMEOUT_SECONDS = 30
ACCURACY = 0.9
# Of all who take a place: who returns it at once, who never opens the study, who stops half way. The rest finishes.
RETURN, STAY_AWAY, STOP = 0.1, 0.05, 0.1


class CannotPlay(Exception):
    """The platform does not do what a participant wants; the message says why."""


class Platform:
    """The local platform as participants see it. `token`: of its API, which lists the studies."""

    def __init__(self, address: str, token: str) -> None:
        self._address = address.rstrip("/")
        self._client = Client(Connection(token, address=address, attempts=1))

    def running_studies(self) -> list[str]:
        """Return the ids of studies in which places are open. Raises ProlificError."""
        return [study.id for study in self._client.list_studies() if study.status == StudyStatus.ACTIVE]

    def do(self, action: str, **fields: str) -> dict[str, Any]:
        """Do what a form of the platform's pages does. Raises CannotPlay."""
        request = urllib.request.Request(  # noqa: S310 (an address of this machine)
            f"{self._address}/play/{action}/",
            json.dumps(fields).encode(),
            {"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:  # noqa: S310
                done: dict[str, Any] = json.load(response)
                return done
        except (urllib.error.URLError, OSError, ValueError) as error:
            raise CannotPlay(f"The local platform refuses {action}: {error}.") from error


@dataclass(frozen=True)
class Participant(SimulatedAnnotator):
    """Somebody whom the platform has sent, with its link and ids."""

    person: str = ""
    submission: str = ""
    link: str = ""

    def ids(self) -> tuple[str, str]:
        return self.person, self.submission

    def entry(self, study: Study) -> str:
        return self.link


class PacedBrowser(BrowserOverHttp):
    """A browser whose user waits before sending a form, and which reports that time. `pause` returns the seconds."""

    def __init__(self, site: str, pause: Callable[[], float]) -> None:
        super().__init__(site)
        self._pause = pause

    def send(self, path: str, fields: Mapping[str, str]) -> Page:
        begun = time.monotonic()
        time.sleep(self._pause())
        if "send_ms" in fields:
            # The server marks sessions whose browser reports more time than has passed.
            taken = str(int(1000 * (time.monotonic() - begun)))
            fields = {**fields, "first_choice_ms": taken, "send_ms": taken}
        return super().send(path, fields)


def play_participant(
    platform: Platform,
    remote_study: str,
    *,
    dice: random.Random,
    pause: Callable[[], float],
    on_arrival: Callable[[Study], None],
) -> str:
    """Let somebody new take part in a study on the platform; return how it ended, in a word.

    on_arrival: called with the study here before they come. Raises CannotPlay and CannotRead.
    """
    taken = platform.do("take", study=remote_study)
    submission, mood = taken["submission"], dice.random()
    if mood < RETURN:
        platform.do("return", submission=submission)
        return "returned"
    if mood < RETURN + STAY_AWAY:
        return "stayed away"
    link = platform.do("open", submission=submission)["url"]
    study = study_at(urlsplit(link).path.split("/")[2])
    on_arrival(study)
    person = Participant(
        number=0,
        seed=submission,
        accuracy=ACCURACY,
        leaves=mood < RETURN + STAY_AWAY + STOP,
        person=taken["participant"],
        submission=submission,
        link=link,
    )
    result = take_part(browser=PacedBrowser(link, pause), study=study, person=person)
    if not result.completion_code:
        platform.do("return", submission=submission)
        return "returned"
    platform.do("complete", submission=submission, code=result.completion_code)
    return "completed"

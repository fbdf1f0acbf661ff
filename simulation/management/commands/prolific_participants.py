"""Let simulated participants of the local platform take part in studies that this site has published there."""

import random
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from annotation.errors import AnnotationError
from annotation.recruitment.prolific.connection import ProlificError
from simulation.actions.announcement import announce_simulation
from simulation.annotators import CannotRead
from simulation.management.commands.prolific_double import TOKEN
from simulation.participants import ACCURACY, CannotPlay, Platform, play_participant
from studies.models import Study

# Seconds between participants, and between looks for a study that runs.
EVERY, LOOK = 4.0, 2.0
# Seconds before a participant sends a page: enough to read 20 words, so that their times are plausible.
PAUSE = (1.2, 2.5)
# Who announces them in the events of a study.
BY = "local platform"


class Command(BaseCommand):
    help = (
        "Let simulated participants of the local platform (prolific_double) come one after another, as long as a study "
        "has open places there. They use this site's database to know right answers."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--platform", default="http://127.0.0.1:8400", help="address of the local platform")
        parser.add_argument("--token", default=TOKEN, help=f"the token that its API accepts (default {TOKEN})")
        parser.add_argument("--seed", default="1", help="the same seed gives the same moods (default 1)")

    def handle(self, *args: Any, **options: Any) -> None:
        platform, dice = Platform(options["platform"], options["token"]), random.Random(options["seed"])  # noqa: S311
        announced = set[int]()
        self.tells = options["verbosity"] > 0

        def announce(study: Study) -> None:
            if study.pk not in announced:
                announced.add(study.pk)
                announce_simulation(
                    study=study, by=BY, now=timezone.now(), annotators=1, accuracy=ACCURACY, seed=options["seed"]
                )

        try:
            while True:
                time.sleep(self._play(platform, dice, announce))
        except KeyboardInterrupt:
            return

    def _play(self, platform: Platform, dice: random.Random, announce: Any) -> float:
        """Let one participant come, if a study runs; return the seconds until the next look."""
        try:
            running = platform.running_studies()
            if not running:
                return LOOK
            ended = play_participant(
                platform, dice.choice(running), dice=dice, pause=lambda: dice.uniform(*PAUSE), on_arrival=announce
            )
        except (ProlificError, CannotPlay, CannotRead, AnnotationError) as error:
            # A platform that starts later, a study that is full meanwhile: the next may do better.
            ended = f"could not take part. {error}"
        if self.tells:
            self.stdout.write(f"A participant {ended}.")
        return EVERY

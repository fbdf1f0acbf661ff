"""Let simulated annotators of a given accuracy answer a study through the real pages."""

import argparse
import time
from collections import Counter
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone
from tqdm import tqdm

from annotation.models import SessionState
from simulation.actions.announcement import announce_simulation
from simulation.annotators import (
    Browser,
    BrowserInProcess,
    BrowserOverHttp,
    CannotRead,
    VisitResult,
    annotators,
    take_part,
)
from studies.management.arguments import STUDY_HELP, ActionCommand, add_by, read_actor, read_study
from studies.models import Study, StudyState
from studies.permissions import Verb
from studies.wording import format_count


def read_share(text: str) -> float:
    """Read a number from 0 to 1."""
    try:
        number = float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 0 to 1.") from error
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1.")
    return number


def read_count(text: str) -> int:
    """Read a whole number, at least 1."""
    try:
        number = int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number.") from error
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1.")
    return number


class Command(ActionCommand):
    refusals = (CannotRead,)
    # now: what its event has as its time; the demo says when its people come.
    stealth_options = ("now",)
    help = "Let simulated annotators of a given accuracy answer a study through the real pages."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("slug", help=STUDY_HELP)
        parser.add_argument(
            "--annotators", type=read_count, default=1, metavar="N", help="number of annotators (default 1)"
        )
        parser.add_argument(
            "--accuracy",
            type=read_share,
            default=0.9,
            metavar="P",
            help="probability of the right answer (default 0.9)",
        )
        parser.add_argument(
            "--seed", default="1", metavar="S", help="seed: the same seed gives the same people (default 1)"
        )
        parser.add_argument(
            "--leave", type=read_share, default=0.0, metavar="P", help="share of them who stop halfway (default 0)"
        )
        add_by(parser)
        parser.add_argument(
            "--url", help="address of a running site with the same database (default: no server needed)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study = read_study(options["slug"])
        if study.state != StudyState.OPEN:
            raise CommandError(f"Study {study.slug} is {study.state}, so nobody can come. Launch or resume it first.")
        announce_simulation(
            study=study,
            by=read_actor(options, Verb.RUN, study.project),
            now=options.get("now") or timezone.now(),
            **{name: options[name] for name in ("annotators", "accuracy", "seed")},
        )
        started = time.monotonic()
        sittings = self._play(study, options)
        self._summarise(sittings, seconds=time.monotonic() - started)

    def _play(self, study: Study, options: dict[str, Any]) -> list[VisitResult]:
        sittings = []
        crowd = annotators(
            count=options["annotators"], accuracy=options["accuracy"], seed=options["seed"], leave=options["leave"]
        )
        for person in tqdm(crowd, total=options["annotators"], unit="annotator", disable=None):
            browser: Browser = BrowserOverHttp(options["url"]) if options["url"] else BrowserInProcess()
            sitting = take_part(browser=browser, study=study, person=person)
            sittings.append(sitting)
            if sitting.nothing_left:
                break
        return sittings

    def _summarise(self, sittings: list[VisitResult], *, seconds: float) -> None:
        states = Counter(SessionState(sitting.state).label for sitting in sittings if sitting.state)
        answers = sum(sitting.answers for sitting in sittings)
        done = f"{format_count(states.total(), 'session')}, {format_count(answers, 'answer')}"
        self.stdout.write(f"{done}, {seconds:.1f} seconds.")
        for label, count in sorted(states.items()):
            self.stdout.write(f"  {label}: {count}")
        known = sum(sitting.by_reference for sitting in sittings)
        if known:
            right = sum(sitting.right for sitting in sittings)
            self.stdout.write(f"  Right answers: {right} of {known} ({right / known:.1%})")
        if scores := [score for sitting in sittings for score in sitting.scores]:
            self.stdout.write(f"  Mean score: {sum(scores) / len(scores):.3f}, n = {len(scores)}")
        written = sum(sitting.written for sitting in sittings)
        if written:
            self.stdout.write(f"  Texts from the source: {written}")
        if answers > known + written:
            self.stdout.write(f"  Random answers, right answer unknown: {answers - known - written}")
        for said, count in Counter(sitting.turned_away for sitting in sittings if sitting.turned_away).items():
            self.stdout.write(f"  Turned away: {count} ({said})")

import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.urls import reverse
from django.utils import timezone

from background.tasks import send
from results.actions.training_data import check_trainable, find_training_data
from studies.actions.lookup import find_project
from studies.errors import StudyError
from studies.management.arguments import ActionCommand, add_by, read_actor
from studies.models import Project
from studies.permissions import Verb
from training.actions.runs import Wanted, read_price, request_run
from training.errors import CannotTrain
from training.messages import TRAINING, VALIDATION
from training.models import TrainingRun
from training.option_fields import read_value
from training.recipes import RECIPES

LOOK_EVERY_SECONDS = 1.0


class Command(ActionCommand):
    refusals = (CannotTrain, StudyError)
    help = "Train a model with a paper's recipe on accepted items, by a worker with models."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("recipe", choices=RECIPES, help="The recipe; docs/training.md describes them.")
        parser.add_argument(
            "--data",
            required=True,
            metavar="PROJECT[/RELEASE]",
            help="The accepted items of a project, or one of its releases.",
        )
        parser.add_argument(
            "--model", required=True, metavar="SPEC", help="The base model, such as open_clip:ViT-B-32/openai."
        )
        parser.add_argument("--name", required=True, help="The name of the trained model, once in the project.")
        parser.add_argument(
            "--option",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="An option of the recipe that differs from the paper's; repeatable.",
        )
        parser.add_argument("--seed", type=int, default=0, help="Decides every random choice (default: 0).")
        parser.add_argument("--hour-price", default="", help="The price of an hour of the device, for the cost.")
        parser.add_argument("--currency", default="USD", help="Of the price (default: USD).")
        parser.add_argument("--wait", action="store_true", help="Wait for the end, and print the result.")
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project, release = _read_data(options["data"])
        by = read_actor(options, Verb.PREDICT, project)
        wanted = Wanted(
            name=options["name"],
            recipe=options["recipe"],
            base=options["model"],
            options=dict(map(_read_option, options["option"])),
            data=find_training_data(project, release),
            seed=options["seed"],
            hour_price=read_price(options["hour_price"]),
            currency=options["currency"],
        )
        check_trainable(project, wanted)
        run, job = request_run(project=project, wanted=wanted, by=by, now=timezone.now())
        send(job)
        page = f"{settings.SITE_URL}{reverse('training_run', args=[run.pk])}"
        self.stdout.write(f"Training requested: {run.name}, from {run.base} on {run.data}. {page} shows its progress.")
        if options["wait"]:
            self._wait(run)

    def _wait(self, run: TrainingRun) -> None:
        while run.is_unfinished:
            time.sleep(LOOK_EVERY_SECONDS)
            try:
                run.refresh_from_db()
            except TrainingRun.DoesNotExist as error:
                raise CommandError(f"{run.name} was deleted meanwhile.") from error
        if run.state != TrainingRun.State.DONE:
            raise CommandError(run.error or "The training was cancelled.")
        score = "" if run.best_score is None else f", score {run.best_score:.4f} on {run.count(VALIDATION):,} examples"
        self.stdout.write(f"{run.result['spec']}: trained on {run.count(TRAINING):,} examples{score}.")


def _read_data(named: str) -> tuple[Project, str]:
    """Return the project and the name of its release, "" without one, that PROJECT or PROJECT/RELEASE names."""
    slug, _, release = named.partition("/")
    return find_project(slug), release


def _read_option(written: str) -> tuple[str, Any]:
    """Return the name and the value of NAME=VALUE. Raises CannotTrain."""
    name, sign, value = written.partition("=")
    if not sign:
        raise CannotTrain(f"--option {written!r} has no value. Write NAME=VALUE, such as epochs=2.")
    return name, read_value(value)

"""Serve a small project with drawn scenes and simulated annotators on this machine."""

import os
import secrets
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.test import override_settings
from django.urls import reverse
from django.utils import timezone
from whitenoise.compress import Compressor

from annotation.actions.launching.launch import launch
from annotation.actions.recruiting.prolific_account import Owner, Wallet, save_account
from annotation.actions.recruiting.prolific_draft import Draft
from annotation.actions.recruiting.prolific_studies import write_draft
from annotation.models import ProlificAccount, Seat, Session
from predictions.actions.runs import request_run
from predictions.models import Run
from predictions.scorers import CannotLoad
from predictions.tasks import send_to_worker
from simulation.actions.demo_project import ACCURACIES, ACCURACY, LEAVE, MODEL, SEED
from simulation.actions.local_run import run_in_process
from simulation.actions.session_times import OPEN_BEFORE, backdate_sessions
from simulation.demo.image_sets import ImageSet, describe_sets
from simulation.demo.manifest import IMAGES, MANIFEST, SETS_MANIFEST, write_manifest, write_sets
from simulation.demo.processes import (
    LOOK_EVERY_SECONDS,
    CannotServe,
    check_all_run,
    check_port_is_free,
    platform_port,
    serve,
)
from simulation.demo.scenes import SceneInstance, describe_instances
from simulation.demo.study import (
    BASELINE_SLUG,
    CHECK_SLUG,
    COMPARE_SLUG,
    DESCRIBE_SLUG,
    FILTER_SLUG,
    RATING_SLUG,
    RETRIEVE_SLUG,
    SLUG,
    image_set_study_files,
    study_files,
)
from simulation.management.commands.prolific_double import TOKEN
from simulation.prolific_double.api import WORKSPACE_TITLE
from simulation.prolific_double.server import WORKSPACE
from studies.actions.events import What, record
from studies.actions.imports.importer import import_files
from studies.actions.lookup import full_name
from studies.actions.studies import create_study
from studies.models import Membership, Project, Study, StudyState
from studies.permissions import Role

USER = "researcher"
# Who makes it, in its events.
BY = "demo"
PROJECT, SETS_PROJECT = "demo", "demo-sets"
PER_CATEGORY = 10
# Fills about half of the first study's 8 places; its fifth annotator stops halfway.
STAGES = {SLUG: 5, FILTER_SLUG: 2, BASELINE_SLUG: 4, RATING_SLUG: 4, CHECK_SLUG: 3, COMPARE_SLUG: 6}
# Still sets and as many videos, of ten images each. Two people describe three images of two sets each and leave a third
# set to the user of the demo. Four people search for the descriptions and leave some of them, too.
SETS_OF_EACH = 3
SET_STAGES = {DESCRIBE_SLUG: 2, RETRIEVE_SLUG: 4}
# Extensions of styles, scripts and similar files, which other sites compress.
COMPRESSED = ("css", "html", "js", "svg", "txt")


class Command(BaseCommand):
    help = (
        "Create a small project with drawn scenes and simulated annotators, then serve it on http://127.0.0.1:8000 "
        "until Ctrl-C. DEMO_PORT and DEMO_DIR move its port and its data; a second run continues with the "
        "existing data."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--no-serve", action="store_true", help="create the data without serving the site")
        parser.add_argument(
            "--draw",
            type=Path,
            metavar="DIR",
            help="only draw the scenes into DIR, with a manifest and study files",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["draw"] is not None:
            self._draw(options["draw"])
            return
        try:
            port = _demo_port()
            if not options["no_serve"]:
                _stop_on_signals()
                check_port_is_free(port)
                check_port_is_free(platform_port(port))
            password = self._make_site()
            self._predict(with_worker=not options["no_serve"])
            if not options["no_serve"]:
                self._serve(port, password)
        except (CannotServe, CannotLoad) as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            self.stdout.write("The demo has stopped. Its data stays for the next run.")

    def _draw(self, folder: Path) -> None:
        instances = list(_scenes())
        try:
            manifest = write_manifest(instances, folder)
            sets = write_sets(_sets(), folder)
            for slug, text in (study_files(instances) | image_set_study_files()).items():
                (folder / f"{slug}.yaml").write_text(text, encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{folder} cannot be written ({error.strerror}). Choose another folder.") from error
        self.stdout.write(f"Drew {len(instances)} scenes with four candidates each; {manifest} lists them.")
        self.stdout.write(f"Drew {2 * SETS_OF_EACH} sets of ten similar scenes; {sets} lists them.")

    def _make_site(self) -> str:
        """Create missing data, and return the researcher's password."""
        call_command("migrate", verbosity=0)
        if not settings.WHITENOISE_USE_FINDERS:
            left_as_they_are = (*Compressor.SKIP_COMPRESS_EXTENSIONS, *COMPRESSED)
            with override_settings(WHITENOISE_SKIP_COMPRESS_EXTENSIONS=left_as_they_are):
                call_command("collectstatic", interactive=False, verbosity=0)
        user, password = _researcher()
        folder = settings.DATA_DIR / "scenes"
        project = _project(user, PROJECT, "Drawn scenes")
        self._import("scenes", project, folder / MANIFEST, "jsonl", lambda: write_manifest(_scenes(), folder))
        self._run_studies(project, STAGES, folder)
        _prepare_recruitment(project, user)
        sets = _project(user, SETS_PROJECT, "Drawn image sets")
        self._import("image sets", sets, folder / SETS_MANIFEST, "imagecode", lambda: write_sets(_sets(), folder))
        self._run_studies(sets, SET_STAGES, folder)
        return password

    def _predict(self, *, with_worker: bool) -> None:
        """Run a model on the baseline's questions: in the site's worker, or here."""
        study = Study.objects.get(project__slug=PROJECT, slug=BASELINE_SLUG)
        if Run.objects.filter(study=study).exclude(state__in=Run.UNFINISHED).exists():
            return
        run = request_run(project=study.project, study=study, spec=MODEL, by=BY, now=timezone.now())
        if with_worker:
            send_to_worker(run)
        else:
            self.stdout.write("A model answers the same questions as people ...")
            run_in_process(run)

    def _run_studies(self, project: Project, stages: Mapping[str, int], folder: Path) -> None:
        # Create all drafts first: a launch needs every study that a study file names.
        for slug in stages:
            if not project.studies.filter(slug=slug).exists():
                self._create_study(project, slug, folder)
        for slug, annotators in stages.items():
            self._run_study(project.studies.get(slug=slug), annotators)

    def _run_study(self, study: Study, annotators: int) -> None:
        if study.state == StudyState.DRAFT:
            launch(study=study, by=BY, now=_opening())
        if not Session.objects.filter(study=study).exists():
            self.stdout.write(f"Simulated annotators take some places of {study.slug} ...")
            call_command(
                "simulate",
                full_name(study),
                annotators=annotators,
                accuracy=ACCURACIES.get(study.slug, ACCURACY),
                leave=LEAVE,
                seed=SEED,
                now=_opening(),
                stdout=self.stdout,
            )
            backdate_sessions(study)

    def _import(self, what: str, project: Project, manifest: Path, format: str, draw: Callable[[], object]) -> None:
        """Import the images of `draw`, unless the project has instances; draw them unless they exist."""
        if project.instances.exists():
            return
        if not manifest.exists():
            self.stdout.write(f"Drawing {what} ...")
            draw()
        images, now = manifest.parent / IMAGES, _opening()
        import_files(project=project, files=[manifest], format=format, images_dir=images, by=BY, now=now)
        project.instances.update(created_at=now)

    def _create_study(self, project: Project, slug: str, folder: Path) -> None:
        file = folder / f"{slug}.yaml"
        files = study_files(list(_scenes())) | image_set_study_files()
        file.write_text(files[slug], encoding="utf-8")
        create_study(project=project, source=files[slug], by=BY, now=_opening())

    def _serve(self, port: int, password: str) -> None:
        with serve(port=port, root=settings.BASE_DIR) as processes:
            self.stdout.write(_welcome(f"http://127.0.0.1:{port}", password))
            self.stdout.flush()
            try:
                while True:
                    check_all_run(processes)
                    time.sleep(LOOK_EVERY_SECONDS)
            except KeyboardInterrupt:
                self.stdout.write("Stopping ...")
                self.stdout.flush()
                raise


def _demo_port() -> int:
    text = os.environ.get("DEMO_PORT", "8000")
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise CommandError(f"DEMO_PORT is {text!r}. Write a port number from 1 to 65535, such as 8000.")
    return int(text)


def _researcher() -> tuple[User, str]:
    """Return the demo's researcher and password, created on the first run in a file for its owner only."""
    users = User.objects
    file = settings.DATA_DIR / "demo-password"
    user, _ = users.get_or_create(username=USER, defaults={"email": ""})
    if file.exists() and user.has_usable_password():
        password = file.read_text(encoding="utf-8").strip()
        if user.check_password(password):
            return user, password
    password = secrets.token_urlsafe(12)
    file.unlink(missing_ok=True)
    file.touch(mode=0o600)
    file.write_text(password, encoding="utf-8")
    user.set_password(password)
    user.save(update_fields=["password"])
    return user, password


def _opening() -> datetime:
    """Return the time of what is done before the people come."""
    return timezone.now() - OPEN_BEFORE


def _scenes() -> Iterator[SceneInstance]:
    return describe_instances(seed=SEED, per_category=PER_CATEGORY)


def _sets() -> Iterator[ImageSet]:
    return describe_sets(seed=SEED, of_each=SETS_OF_EACH)


def _project(user: User, slug: str, name: str) -> Project:
    with transaction.atomic():
        project, made = Project.objects.get_or_create(slug=slug, defaults={"name": name})
        _, joined = Membership.objects.get_or_create(project=project, user=user, defaults={"role": Role.OWNER.value})
        if made:
            record(project=project, what=What.PROJECT_MADE, by=user, now=_opening())
        if joined:
            what, now = What.MEMBER_ADDED, _opening()
            record(project=project, what=what, by=user, now=now, member=user.get_username(), role=Role.OWNER.value)
    return project


def _prepare_recruitment(project: Project, user: User) -> None:
    """Save the local platform's account, and draft a study there for the places that are left, to be published."""
    if ProlificAccount.objects.filter(project=project).exists():
        return
    wallet = Wallet(WORKSPACE_TITLE, "USD", 0, WORKSPACE)
    owner = Owner("5f00000000000000000000aa", "A researcher", (wallet,))
    save_account(project=project, token=TOKEN, owner=owner, by=user, now=_opening())
    study = project.studies.get(slug=SLUG)
    time, pay = study.design.time, study.design.pay
    draft = Draft(
        name=study.title,
        description="<p>You will choose the image that fits a description.</p>",
        reward=pay.per_session,
        currency=pay.currency,
        places=Seat.objects.filter(study=study, session=None, filled_at=None).count(),
        minutes=time.estimated_minutes,
        at_most=time.limit_minutes,
        devices=("desktop", "tablet", "mobile"),
    )
    write_draft(study=study, draft=draft, by=user, now=_opening())


def _stop_on_signals() -> None:
    """End at Ctrl-C, `kill` and the closing of the terminal, once: a second Ctrl-C would leave processes behind."""
    ending = [each for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if not _is_ignored(each)]

    def stop(number: int, frame: FrameType | None) -> None:
        for each in ending:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    for each in ending:
        signal.signal(each, stop)


def _is_ignored(number: signal.Signals) -> bool:
    """Whether who started the demo wants it to go on at this signal, as nohup does."""
    return signal.getsignal(number) == signal.SIG_IGN


def _page(project: str, slug: str) -> str:
    return reverse("study", args=[project, slug])


def _welcome(site: str, password: str) -> str:
    studies = {study.slug: study for study in Study.objects.filter(project__slug__in=[PROJECT, SETS_PROJECT])}
    takes = {slug: site + reverse("take", args=[study.entry_name]) for slug, study in studies.items()}
    # Each visit is a new person, with ids in Prolific's form.
    person, session = secrets.token_hex(12), secrets.token_hex(12)
    ids = urlencode({"PROLIFIC_PID": person, "STUDY_ID": "demo", "SESSION_ID": session})
    invites = {slug: f"{takes[slug]}?{urlencode({'invite': study.invite_token})}" for slug, study in studies.items()}
    return f"""
The demo runs on {site}

  As an annotator whom Prolific sends:  {takes[SLUG]}?{ids}
  As an annotator by invite link:       {invites[SLUG]}
  ... who describes an image:           {invites[DESCRIBE_SLUG]}
  ... who finds a described image:      {invites[RETRIEVE_SLUG]}

  As the researcher:                    {site}/
    user name {USER}, password {password}
  The project:                          {site}/projects/{PROJECT}/
  The study:                            {site}{_page(PROJECT, SLUG)}
  Publish it on a local Prolific, whose participants are simulated:
                                        {site}{reverse("study_recruit", args=[PROJECT, SLUG])}
  Studies about its images:             {site}{_page(PROJECT, FILTER_SLUG)}
                                        {site}{_page(PROJECT, BASELINE_SLUG)}
                                        {site}{_page(PROJECT, RATING_SLUG)}
                                        {site}{_page(PROJECT, CHECK_SLUG)}
                                        {site}{_page(PROJECT, COMPARE_SLUG)}
  The model's predictions:              {site}{reverse("project_models", args=[PROJECT])}
  People and the model compared:        {site}{reverse("project_results", args=[PROJECT])}
  The project of image sets:            {site}/projects/{SETS_PROJECT}/
  Its studies:                          {site}{_page(SETS_PROJECT, DESCRIBE_SLUG)}
                                        {site}{_page(SETS_PROJECT, RETRIEVE_SLUG)}

Ctrl-C stops it."""

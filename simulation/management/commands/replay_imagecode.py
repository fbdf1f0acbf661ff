"""Replay ImageCoDe's released descriptions with simulated retrievers, at full size."""

from argparse import ArgumentParser
from contextlib import closing
from pathlib import Path
from typing import Any

from results.queries.reports.report_rows import project_facts
from simulation.management.commands.simulate import read_share
from simulation.management.replay_command import (
    hide_session_log,
    new_project,
    researcher,
    without_synchronous_commit,
)
from simulation.replay.imagecode.pipeline import WRITTEN, Setting, run
from simulation.replay.imagecode.published_numbers import ACCURACY
from simulation.replay.imagecode.tables import differences, last_line, report
from simulation.replay.script import CannotReplay
from studies.actions.imports.import_state import ImportRefused
from studies.design import DesignRefused
from studies.errors import StudyError
from studies.management.arguments import ActionCommand
from studies.progress_bars import ProgressBars


class Command(ActionCommand):
    refusals = (CannotReplay, ImportRefused, DesignRefused, StudyError)
    help = (
        "Replay ImageCoDe: import its released descriptions, let simulated annotators of a stated accuracy look for "
        "their images through the real code, and print the paper's tables."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "project", nargs="?", default="imagecode", help="slug of the new project (default imagecode)"
        )
        parser.add_argument("--train", required=True, type=Path, metavar="FILE", help="train_data.json")
        parser.add_argument("--valid", required=True, type=Path, metavar="FILE", help="valid_data.json")
        parser.add_argument("--split", required=True, type=Path, metavar="FILE", help="annotator_split_valid.json")
        parser.add_argument("--tags", required=True, type=Path, metavar="FILE", help="manual_annotation_valid.yaml")
        parser.add_argument(
            "--images-later",
            action="store_true",
            help="draw placeholders for the images (always on: the files name no images)",
        )
        parser.add_argument(
            "--accuracy",
            type=read_share,
            default=ACCURACY,
            metavar="P",
            help=f"chance to find an image (default {ACCURACY}, which gives the paper's accuracy and alpha)",
        )
        parser.add_argument(
            "--seed", default="imagecode", metavar="S", help="seed: the same seed gives the same replay"
        )
        parser.add_argument(
            "--described",
            type=int,
            default=60,
            metavar="N",
            help="number of sets that are also described, in the project PROJECT-written (default 60; 0 for none)",
        )
        parser.add_argument(
            "--owner", metavar="USERNAME", help="owner of the project (default: a user who cannot sign in)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        setting = Setting(
            project=new_project(options["project"], "ImageCoDe, replayed"),
            train=options["train"],
            valid=options["valid"],
            authors=options["split"],
            tags=options["tags"],
            by=researcher(options["owner"]),
            accuracy=options["accuracy"],
            seed=options["seed"],
            described=options["described"],
        )
        if setting.described:
            new_project(f"{setting.project.slug}-{WRITTEN}", "")
        bars = ProgressBars(None if options["verbosity"] == 0 else self.stderr)
        with hide_session_log(), without_synchronous_commit(), closing(bars) as progress:
            replay = run(setting, progress=progress)
        with replay.time_stage("report"):
            setting.project.refresh_from_db()
            facts = project_facts(setting.project)
            written = project_facts(replay.written.project) if replay.written else None
            text = report(replay, facts, written)
        self.stdout.write(f"{text}\n{last_line(replay)}")
        if wrong := differences(replay.sets):
            raise CannotReplay("The replay differs from what was published.\n" + "\n".join(wrong))

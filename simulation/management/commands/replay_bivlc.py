"""Replay the whole BiVLC paper at its full size."""

from argparse import ArgumentParser
from contextlib import closing
from pathlib import Path
from typing import Any

from evaluation.result_files import ResultsFileError
from predictions.errors import PredictionsRefused
from results.queries.reports.report_rows import project_facts
from simulation.management.replay_command import hide_session_log, new_project, researcher
from simulation.replay.paper_comparison import checks
from simulation.replay.pipeline import Replay, Setting, run
from simulation.replay.result_files import check_folder, import_results
from simulation.replay.script import CannotReplay, read_accepted
from simulation.replay.tables import last_line, report
from studies.actions.imports.import_state import ImportRefused
from studies.design import DesignRefused
from studies.errors import StudyError
from studies.management.arguments import ActionCommand
from studies.progress_bars import ProgressBars


class Command(ActionCommand):
    refusals = (CannotReplay, ImportRefused, DesignRefused, StudyError, PredictionsRefused, ResultsFileError)
    help = (
        "Replay BiVLC: import its manifest, run step 3 with step 4 live behind it and the human baseline with "
        "simulated annotators through the real code, and print the paper's tables."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--manifest", required=True, type=Path, metavar="FILE", help="BiVLC_negative_imgs.csv")
        parser.add_argument(
            "--accepted", required=True, type=Path, metavar="FILE", help="accepted.csv: which rows were released"
        )
        images = parser.add_mutually_exclusive_group()
        images.add_argument("--images", type=Path, metavar="DIR", help="the folder with the images of the manifest")
        images.add_argument(
            "--images-later", action="store_true", help="draw placeholders for missing images (the default)"
        )
        parser.add_argument("--results", type=Path, metavar="DIR", help="the folder with the result files of models")
        parser.add_argument("--seed", default="bivlc", metavar="S", help="seed: the same seed gives the same replay")
        parser.add_argument(
            "--project", default="bivlc", metavar="NAME", help="slug of the new project (default bivlc)"
        )
        parser.add_argument(
            "--owner", metavar="USERNAME", help="owner of the project (default: a user who cannot sign in)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        results: Path | None = options["results"]
        setting = _setting(options)
        if results is not None:
            check_folder(results)
        bars = ProgressBars(None if options["verbosity"] == 0 else self.stderr)
        with hide_session_log(), closing(bars) as progress:
            replay = run(setting, progress=progress)
            if results is not None:
                import_results(replay, results, progress=progress)
        self._report(replay, results)

    def _report(self, replay: Replay, results: Path | None) -> None:
        with replay.time_stage("report"):
            # The launches have marked the study that has its dataset.
            replay.setting.project.refresh_from_db()
            facts = project_facts(replay.setting.project)
            found = checks(replay, facts)
            text = report(replay, facts, found, results)
        self.stdout.write(f"{text}\n{last_line(replay)}")
        wrong = [
            f"{check.what}: {check.published} published, {check.found} here" for check in found if not check.agrees
        ]
        if wrong:
            raise CannotReplay("The replay differs from what was published.\n" + "\n".join(wrong))


def _setting(options: dict[str, Any]) -> Setting:
    return Setting(
        project=new_project(options["project"], "BiVLC, replayed"),
        manifest=options["manifest"],
        images_dir=options["images"],
        released=read_accepted(options["accepted"]),
        by=researcher(options["owner"]),
        seed=options["seed"],
    )

"""Share the steps of both replays: time their stages, import files, and launch the studies."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from annotation.actions.launching.launch import launch
from simulation.actions.announcement import announce_replay
from simulation.replay.player import PlayCounts
from studies.actions.imports.importer import import_files
from studies.actions.studies import create_study
from studies.models import Project, Study
from studies.progress_bars import ProgressBars


@dataclass(kw_only=True)
class Stages:
    """What a replay has done so far.

    stand_ins: number of drawn images. studies, played: by the name of the study or split. seconds: duration of each
    stage.
    """

    stand_ins: int = 0
    studies: dict[str, Study] = field(default_factory=dict)
    played: dict[str, PlayCounts] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def time_stage(self, stage: str) -> Iterator[None]:
        started = time.monotonic()
        yield
        self.seconds[stage] = time.monotonic() - started

    @property
    def duration(self) -> str:
        """Return the duration of all stages, and of each."""
        stages = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in self.seconds.items())
        return f"In all {sum(self.seconds.values()):.1f} s: {stages}."


def import_all(
    *, project: Project, files: list[Path], format: str, by: User, progress: ProgressBars | None = None, **options: Any
) -> None:
    """Import files into a new project, with a bar for each stage if `progress` is given. Raises ImportRefused."""

    def show(stage: str, done: int, total: int) -> None:
        if progress is not None:
            progress.show(f"import: {stage}", done, total)

    import_files(
        project=project,
        files=files,
        format=format,
        by=by,
        now=timezone.now(),
        owner=by,
        progress=show,
        **options,
    )


def launch_file(source: str, *, project: Project, by: User, seed: str) -> Study:
    """Launch the study of a study file, and record that its answers are a replay. Raises StudyError."""
    study = create_study(project=project, source=source, by=by, now=timezone.now())
    launch(study=study, by=by, now=timezone.now())
    announce_replay(study=study, by=by, now=timezone.now(), seed=seed)
    return study

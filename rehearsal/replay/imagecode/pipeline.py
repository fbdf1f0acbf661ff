"""The replay from the released files to what retrievers make of them: import, stand-ins, one study for each split."""

import random
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.actions.launching import launch
from annotation.models import Seat
from rehearsal.actions.announcing import announce_replay
from rehearsal.replay.playing import Choose, Crowd, Played, play
from rehearsal.replay.progress import Progress
from rehearsal.replay.script import CannotReplay
from rehearsal.replay.stand_ins import fill_with_stand_ins
from studies.actions.importing import import_files
from studies.actions.studies import create_study
from studies.kinds import get_kind
from studies.models import Instance, Project, Question, Study

FORMAT = "imagecode"
TRAIN, VALID = "train", "valid"
# Split -> the study file that ships for its retrievers.
RETRIEVE = {TRAIN: "imagecode-retrieve-train", VALID: "imagecode-retrieve-test"}
# What of these files is about a study that writes descriptions, or about people over several sittings.
WITHOUT = ("eligibility", "lobby")


@dataclass(frozen=True)
class Setting:
    """What a replay is made of. `accuracy`: the chance, 0 to 1, that a retriever finds an image."""

    project: Project
    train: Path
    valid: Path
    authors: Path
    tags: Path
    by: User
    accuracy: float
    seed: str


@dataclass
class Replay:
    """What a replay has made. `studies`, `played`: by split; `seconds`: stage -> how long it took."""

    setting: Setting
    stand_ins: int = 0
    studies: dict[str, Study] = field(default_factory=dict)
    played: dict[str, Played] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        started = time.monotonic()
        yield
        self.seconds[stage] = time.monotonic() - started


def run(setting: Setting, *, progress: Progress) -> Replay:
    """Run the whole replay in a project that is new. Raises CannotReplay, ImportRefused and StudyError."""
    replay = Replay(setting)
    with replay.timed("import"):
        _import(replay, progress)
    with replay.timed("stand-ins"):
        replay.stand_ins = fill_with_stand_ins(project=setting.project, progress=progress)
    with replay.timed("launch"):
        progress.begin("launch", len(RETRIEVE))
        for split in RETRIEVE:
            if not Instance.objects.filter(project=setting.project, split=split).exists():
                raise CannotReplay(
                    f"No image set is in the split {split}. The names of the files must begin with train and valid, as "
                    "the released ones do."
                )
            replay.studies[split] = _launch(replay, split)
            progress.step()
    with replay.timed("retrieval"):
        for split, study in replay.studies.items():
            crowd = Crowd(study, retriever(accuracy=setting.accuracy, seed=f"{setting.seed}|{split}"))
            progress.begin(f"retrieval: {split}", study.design.answers * study.questions.count())
            play(crowd, progress=progress)
            replay.played[split] = crowd.played
    return replay


def _import(replay: Replay, progress: Progress) -> None:
    setting = replay.setting
    stages: dict[str, int] = {}

    def show(stage: str, done: int, total: int) -> None:
        if stage not in stages:
            progress.begin(f"import: {stage}", total)
        progress.step(done - stages.get(stage, 0))
        stages[stage] = done

    import_files(
        project=setting.project,
        files=[setting.train, setting.valid, setting.authors, setting.tags],
        format=FORMAT,
        images_later=True,
        by=setting.by,
        now=timezone.now(),
        owner=setting.by,
        progress=show,
    )


def _launch(replay: Replay, split: str) -> Study:
    setting = replay.setting
    source = study_file(RETRIEVE[split], slug=slug(replay, split), split=split)
    study = create_study(project=setting.project, source=source, by=setting.by, now=timezone.now())
    launch(study=study, by=setting.by, now=timezone.now())
    announce_replay(study=study, by=setting.by, now=timezone.now(), seed=setting.seed)
    return study


def slug(replay: Replay, split: str) -> str:
    """Return the name of a study; the project's stands in it, so that replays can be told apart by it alone."""
    return f"{replay.setting.project.slug}-retrieve-{split}"


def study_file(name: str, *, slug: str, split: str) -> str:
    """Return the study file that ships as `name`, with somebody to write to, which asks about the descriptions that
    came with the import: they have no authors here whom their sets could be kept from."""
    shipped = (settings.BASE_DIR / "studies" / "designs" / f"{name}.yaml").read_text(encoding="utf-8")
    design: dict[str, Any] = yaml.safe_load(shipped)
    design |= {"study": slug, "contact": "whoever runs the replay", "instances": {"split": [split]}}
    return yaml.safe_dump(
        {entry: value for entry, value in design.items() if entry not in WITHOUT}, sort_keys=False, allow_unicode=True
    )


def retriever(*, accuracy: float, seed: str) -> Choose:
    """Return how retrievers answer: the right image with the chance `accuracy`, else any other, each as likely."""
    dice = random.Random(seed)  # noqa: S311 (made-up answers)

    def choose(question: Question, seat: Seat) -> str:
        if dice.random() < accuracy:
            return question.right
        labels = get_kind(question.kind).categories(question.content)
        return dice.choice([label for label in labels if label != question.right])

    return choose


def most_memory_mib() -> int:
    """Return the most memory that this process has held so far, in MiB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux tells KiB, macOS bytes.
    return most // (1024 * 1024 if sys.platform == "darwin" else 1024)

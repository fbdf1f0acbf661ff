"""Replay pipeline: import the released files, add placeholder images, play one study per split."""

import resource
import sys
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from django.contrib.auth.models import User

from analytics.imagecode import SetCounts, count_sets
from simulation.replay.imagecode.descriptions import DescriptionResult, describe_again
from simulation.replay.imagecode.studies import FORMAT, PICTURES, TRAIN, VALID, launch_from, make_retriever
from simulation.replay.placeholder_images import fill_with_placeholders
from simulation.replay.player import Crowd, play
from simulation.replay.script import CannotReplay
from simulation.replay.stages import Stages, import_all
from studies.descriptions import descriptions_of
from studies.models import Instance, Project
from studies.progress_bars import ProgressBars

# Split -> its shipped study file for retrievers.
RETRIEVE = {TRAIN: "imagecode-retrieve-train", VALID: "imagecode-retrieve-test"}
WRITTEN = "written"


@dataclass(frozen=True)
class Setting:
    """Settings of a replay.

    accuracy: chance that a retriever finds an image, 0 to 1. described: number of sets for describers, at least 0.
    """

    project: Project
    train: Path
    valid: Path
    authors: Path
    tags: Path
    by: User
    accuracy: float
    seed: str
    described: int


@dataclass
class Replay(Stages):
    """The state and results of a replay.

    sets, texts: by split, as stored. annotations: the codes of each annotated description, in the file's order.
    """

    setting: Setting
    sets: dict[str, SetCounts] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    annotations: list[str] = field(default_factory=list)
    written: DescriptionResult | None = None


def run(setting: Setting, *, progress: ProgressBars) -> Replay:
    """Run the whole replay in a new project. Raises CannotReplay, ImportRefused and StudyError."""
    replay = Replay(setting)
    with replay.time_stage("import"):
        import_all(
            project=setting.project,
            files=[setting.train, setting.valid, setting.authors, setting.tags],
            format=FORMAT,
            images_later=True,
            by=setting.by,
            progress=progress,
        )
        for split in RETRIEVE:
            _count(replay, split)
        replay.annotations = read_annotations(setting.tags)
    with replay.time_stage("stand-ins"):
        replay.stand_ins = fill_with_placeholders(project=setting.project, progress=progress, most=PICTURES)
    with replay.time_stage("launch"):
        progress.begin("launch", len(RETRIEVE))
        for split in RETRIEVE:
            if not Instance.objects.filter(project=setting.project, split=split).exists():
                raise CannotReplay(
                    f"No image set is in the split {split}. The names of the files must begin with train and valid, as "
                    "the released ones do."
                )
            # Imported descriptions have no authors here, so nobody is excluded from their sets.
            replay.studies[split] = launch_from(
                RETRIEVE[split],
                project=setting.project,
                slug=slug(replay, split),
                by=setting.by,
                seed=setting.seed,
                instances={"split": [split]},
                eligibility=[],
            )
            progress.step()
    with replay.time_stage("retrieval"):
        for split, study in replay.studies.items():
            crowd = Crowd(study, make_retriever(accuracy=setting.accuracy, seed=f"{setting.seed}|{split}"))
            progress.begin(f"retrieval: {split}", study.design.answers * study.questions.count())
            play(crowd, progress=progress)
            replay.played[split] = crowd.played
    if setting.described:
        with replay.time_stage("writing"):
            replay.written = describe_again(
                source=setting.project,
                project=Project(slug=f"{setting.project.slug}-{WRITTEN}", name="ImageCoDe, described again"),
                sets=setting.described,
                accuracy=setting.accuracy,
                by=setting.by,
                seed=setting.seed,
                progress=progress,
            )
    return replay


def _count(replay: Replay, split: str) -> None:
    """Count the stored sets and descriptions of a split. Raises CannotReplay for unknown set names."""
    rows = Instance.objects.filter(project=replay.setting.project, split=split).order_by("pk")
    found = {
        key: [each.text for each in descriptions_of(captions, reference)]
        for key, captions, reference in rows.values_list("key", "captions", "reference")
    }
    try:
        replay.sets[split] = count_sets(found)
    except ValueError as error:
        raise CannotReplay(f"Not a set of ImageCoDe: {error}") from error
    replay.texts[split] = [text for texts in found.values() for text in texts]


def read_annotations(file: Path) -> list[str]:
    """Return the codes of each annotated description, a comma-separated list, in the file's order."""
    # The base loader creates texts, lists and mappings only.
    sets = yaml.load(file.read_bytes(), Loader=yaml.BaseLoader)  # noqa: S506
    return [about["annotation"] for of_set in sets.values() for about in of_set.values()]


def slug(replay: Replay, split: str) -> str:
    """Return a study's name, which contains the project's, so that it identifies the replay."""
    return f"{replay.setting.project.slug}-retrieve-{split}"


def peak_memory_mib() -> int:
    """Return the peak memory of this process in MiB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux reports KiB, macOS bytes.
    return most // (1024 * 1024 if sys.platform == "darwin" else 1024)

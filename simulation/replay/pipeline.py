"""Replay pipeline: import the manifest, play step 3 with step 4 behind it, then the baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from django.contrib.auth.models import User

from annotation.models import Seat, Slot
from simulation.replay.placeholder_images import fill_with_placeholders, wait_for_photos
from simulation.replay.player import Crowd, play, play_live
from simulation.replay.published_numbers import MANIFEST_ROWS, PAIR_KAPPAS, QUESTIONS_PER_INSTANCE
from simulation.replay.script import (
    CannotReplay,
    Outcome,
    Pair,
    baseline_mistakes,
    choose_outcomes,
    pair_answers,
    step_3_answer,
    step_4_answer,
)
from simulation.replay.stages import Stages, import_all, launch_file
from studies.importing import Record, get_importer
from studies.kinds import get_kind
from studies.models import Instance, Project, Question, Study, SurveyQuestion
from studies.progress_bars import ProgressBars
from studies.shipped_designs import shipped_designs

FORMAT = "bivlc-manifest"
CAPTION_RULE = "bivlc-release-v1"
STEP_3, STEP_4, BASELINE = "bivlc-step-3", "bivlc-step-4", "bivlc-baseline"
PHOTO = "image"
# A small replay still has this many surveys and samples, and enough rows for the surveys of pairs.
SMALLEST_SURVEY = 8
SMALLEST_REPLAY = SMALLEST_SURVEY * len(PAIR_KAPPAS)


@dataclass(frozen=True)
class Setting:
    """Settings of a replay. `released`: key -> row of the released dataset, None if not released."""

    project: Project
    manifest: Path
    images_dir: Path | None
    released: Mapping[str, int | None]
    by: User
    seed: str


@dataclass
class Replay(Stages):
    """The state and results of a replay. `instances`: id -> key."""

    setting: Setting
    outcomes: Mapping[str, Outcome]
    instances: dict[int, str] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Return whether it has the paper's size, so that the published numbers apply."""
        return len(self.outcomes) == MANIFEST_ROWS


def run(setting: Setting, *, progress: ProgressBars) -> Replay:
    """Run the whole replay in a new project. Raises CannotReplay, ImportRefused and StudyError."""
    replay = Replay(setting, outcomes=_choose_outcomes(setting))
    with replay.time_stage("import"):
        _import(replay, progress)
    if setting.images_dir is None:
        with replay.time_stage("stand-ins"):
            wait_for_photos(project=setting.project, role=PHOTO, key="coco")
            replay.stand_ins = fill_with_placeholders(project=setting.project, progress=progress)
    with replay.time_stage("launch"):
        progress.begin("launch", 2)
        for name in (STEP_3, STEP_4):
            replay.studies[name] = _launch(replay, name)
            progress.step()
    with replay.time_stage("steps 3 and 4"):
        _play_steps(replay, progress)
    with replay.time_stage("baseline"):
        replay.studies[BASELINE] = _launch(replay, BASELINE)
        _play_baseline(replay, progress)
    return replay


def _choose_outcomes(setting: Setting) -> dict[str, Outcome]:
    """Check the manifest against the other files first, and choose the outcome of each instance."""
    try:
        with setting.manifest.open("rb") as stream:
            records = [item for item in get_importer(FORMAT)(stream) if isinstance(item, Record)]
    except OSError as error:
        raise CannotReplay(f"{setting.manifest} cannot be read ({error.strerror}). Check the name.") from error
    unknown = sorted({record.key for record in records} ^ setting.released.keys())
    if unknown:
        raise CannotReplay(
            f"The manifest and the accepted file do not have the same rows: {unknown[0]} is in only one of them "
            f"({len(unknown):,} such rows). Name two files of the same release."
        )
    if len(records) < SMALLEST_REPLAY:
        raise CannotReplay(f"The manifest has {len(records)} rows; a replay takes at least {SMALLEST_REPLAY}.")
    if setting.images_dir is not None:
        _check_photos(setting.images_dir, records)
    released = {key for key, row in setting.released.items() if row is not None}
    return choose_outcomes(
        {record.key: (record.type, record.subtype) for record in records}, released, seed=setting.seed
    )


def _check_photos(folder: Path, records: Sequence[Record]) -> None:
    """Check for the original photos, which the import does not need, but step 4 shows. Raises CannotReplay."""
    photos = {image.filename for record in records for image in record.images if image.role == PHOTO}
    missing = sorted(name for name in photos if not (folder / name).is_file())
    if missing:
        raise CannotReplay(
            f"{folder} lacks {len(missing):,} of the {len(photos):,} original photos that step 4 shows, the first of "
            f"them {missing[0]}. Put them beside the generated images, or replay with --images-later."
        )


def _import(replay: Replay, progress: ProgressBars) -> None:
    setting = replay.setting
    import_all(
        project=setting.project,
        files=[setting.manifest],
        format=FORMAT,
        images_dir=setting.images_dir,
        caption_rule=CAPTION_RULE,
        images_later=setting.images_dir is None,
        by=setting.by,
        progress=progress,
    )
    replay.instances = dict(Instance.objects.filter(project=setting.project).values_list("pk", "key"))


def _launch(replay: Replay, name: str) -> Study:
    setting = replay.setting
    return launch_file(study_file(replay, name), project=setting.project, by=setting.by, seed=setting.seed)


def study_file(replay: Replay, name: str) -> str:
    """Return the shipped study file with a contact, adapted to the project's name and the manifest's size."""
    source = shipped_designs()[name].source.replace('contact: ""', "contact: whoever runs the replay")
    if replay.is_whole and slug(replay, name) == name:
        return source
    design: dict[str, Any] = yaml.safe_load(source)
    design["study"] = slug(replay, name)
    instances = design.get("instances", {})
    if "from" in instances:
        instances["from"] = slug(replay, instances["from"])
    if not replay.is_whole:
        _make_smaller(replay, surveys=design["surveys"], instances=instances)
    return yaml.safe_dump(design, sort_keys=False, allow_unicode=True)


def slug(replay: Replay, name: str) -> str:
    """Return a study's name, which contains the project's, so that it identifies the replay."""
    return name.replace("bivlc", replay.setting.project.slug, 1)


def _make_smaller(replay: Replay, *, surveys: dict[str, int], instances: dict[str, Any]) -> None:
    rows = len(replay.outcomes)
    surveys["size"] = max(SMALLEST_SURVEY, surveys["size"] * rows // MANIFEST_ROWS)
    if "sample" in instances:
        kept = sum(outcome is Outcome.RELEASED for outcome in replay.outcomes.values())
        instances["sample"] = min(kept, max(SMALLEST_SURVEY, instances["sample"] * rows // MANIFEST_ROWS))


def _play_steps(replay: Replay, progress: ProgressBars) -> None:
    seed = replay.setting.seed
    settled = {key: step_3_answer(key, outcome, seed=seed) for key, outcome in replay.outcomes.items()}
    pairs = _pair_answers(replay, settled)

    def choose_image(question: Question, seat: Seat) -> str:
        key = replay.instances[question.instance_id]
        pair = pairs.get(seat.survey_id)
        if pair is None:
            return settled[key]
        return pair[0 if seat.number == 1 else 1][key]

    def tell_apart(question: Question, seat: Seat) -> str:
        key = replay.instances[question.instance_id]
        return step_4_answer(key, replay.outcomes[key], seed=seed)

    first = Crowd(replay.studies[STEP_3], choose_image)
    then = Crowd(replay.studies[STEP_4], tell_apart)
    accepted = sum(outcome is not Outcome.NO_IMAGE for outcome in replay.outcomes.values())
    progress.begin("steps 3 and 4", Slot.objects.filter(seat__study=first.study).count() + accepted)
    play_live(
        first=first,
        then=then,
        settle=lambda question: settled[replay.instances[question.instance_id]],
        by=replay.setting.by,
        progress=progress,
    )
    replay.played |= {STEP_3: first.played, STEP_4: then.played}


def _pair_answers(replay: Replay, settled: Mapping[str, str]) -> dict[int, Pair]:
    """Return the answers of each pair, by survey: their kappas are the published ones, in order."""
    surveys = replay.studies[STEP_3].surveys.filter(seats_planned=2).order_by("number")
    pairs = {}
    for survey, kappa in zip(surveys, PAIR_KAPPAS, strict=True):
        asked = SurveyQuestion.objects.filter(survey=survey).values_list("question__instance_id", flat=True)
        answers = {replay.instances[instance]: settled[replay.instances[instance]] for instance in asked}
        pairs[survey.pk] = pair_answers(answers, kappa=kappa, seed=f"{replay.setting.seed}|{survey.number}")
    return pairs


def _play_baseline(replay: Replay, progress: ProgressBars) -> None:
    study = replay.studies[BASELINE]
    sampled = set(Question.objects.filter(study=study).values_list("instance_id", flat=True))
    keys = sorted(replay.instances[instance] for instance in sampled)
    mistakes = baseline_mistakes(keys, seed=replay.setting.seed)

    def choose(question: Question, seat: Seat) -> str:
        if (question.kind, question.variant) not in mistakes[replay.instances[question.instance_id]]:
            return question.right
        options = get_kind(question.kind).options(question.content)
        return next(option.key for option in options if option.key != question.right)

    crowd = Crowd(study, choose)
    progress.begin("baseline", QUESTIONS_PER_INSTANCE * len(keys))
    play(crowd, progress=progress)
    replay.played[BASELINE] = crowd.played

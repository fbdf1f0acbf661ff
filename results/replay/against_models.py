"""The result files of models beside a replay: their scores on the instances it kept, and on those people answered."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analytics.results_files import OutcomeFile, read_correct, read_detections, read_outcomes
from analytics.scores import Outcomes, Score, outcomes_of_detectors, score
from results.replay.findings import Baseline, kept_keys
from results.replay.pipeline import Replay
from results.replay.script import CannotReplay
from studies.models import Instance

DETECTORS = "BiVLC_Classifier_CORRECT_"
OUTCOMES = "BiVLC_"
SUGARCREPE = "SUGARCREPE_CORRECT_"


@dataclass(frozen=True)
class Model:
    """A model's outcomes on the kept instances, in order of release, and on the instances of the baseline.

    `labels`: type and subtype of each kept instance.
    """

    name: str
    kept: Outcomes
    labels: tuple[list[str], list[str]]
    baseline: Outcomes


def check_folder(folder: Path) -> None:
    """Raise CannotReplay when no result file is there."""
    if not any(folder.glob(f"{OUTCOMES}*.csv")):
        raise CannotReplay(f"{folder} has no result file {OUTCOMES}<model>.csv. Name the folder with the results.")


def models(replay: Replay, folder: Path, people: Baseline) -> list[Model]:
    """Read every `BiVLC_<model>.csv`. Raises CannotReplay when one is about other instances than the replay's."""
    rows = replay.setting.released
    kept = sorted(kept_keys(replay), key=lambda key: rows[key] or 0)
    found = []
    for path in sorted(folder.glob(f"{OUTCOMES}*.csv")):
        if path.name.startswith(DETECTORS):
            continue
        file = read_outcomes(path)
        _check_same(replay, path, file, kept)
        places = _places(replay, kept)
        types, subtypes = ([column[place] for place in places] for column in (file.types, file.subtypes))
        found.append(
            Model(
                name=path.stem.removeprefix(OUTCOMES),
                kept=file.outcomes.of(np.array(places, dtype=np.int64)),
                labels=(types, subtypes),
                baseline=file.outcomes.of(np.array(_places(replay, people.keys), dtype=np.int64)),
            )
        )
    return found


def _places(replay: Replay, keys: Sequence[str]) -> list[int]:
    places = [replay.setting.released[key] for key in keys]
    return [place for place in places if place is not None]


def _check_same(replay: Replay, path: Path, file: OutcomeFile, kept: Sequence[str]) -> None:
    captions = dict(Instance.objects.filter(project=replay.setting.project).values_list("key", "captions"))
    for key, place in zip(kept, _places(replay, kept), strict=True):
        told = file.instances[place] if place < len(file.instances) else None
        own = captions[key]
        if told is None or (told.caption, told.negative_caption) != (own["caption"], own["negative_caption"]):
            raise CannotReplay(
                f"Record {place + 1} of {path.name} is not about instance {key}, which stands there in the released "
                "dataset. Name result files of the same release."
            )


def detectors(folder: Path) -> dict[str, Outcomes]:
    """Read every file of detectors of synthetic content that has both texts and images, over all its instances."""
    found = {}
    for path in sorted(folder.glob(f"{DETECTORS}*.csv")):
        file = read_detections(path)
        if file.image is not None:
            found[path.stem.removeprefix(DETECTORS)] = outcomes_of_detectors(file.text, file.image)
    return found


def sugarcrepe(folder: Path) -> dict[str, Score]:
    """Read every file of choices on SugarCrepe, over all its rows."""
    return {
        path.stem.removeprefix(SUGARCREPE): score(read_correct(path).correct)
        for path in sorted(folder.glob(f"{SUGARCREPE}*.csv"))
    }

"""Import models' result files as predictions, and make tables of the results that predictions cannot hold."""

from collections.abc import Mapping
from pathlib import Path

from django.utils import timezone

from analytics.scores import Score, detection_accuracy, outcomes_of_detectors, score
from evaluation.result_files import read_correct, read_detections
from predictions.actions.import_predictions import ModelName, import_predictions
from results.reports.base import Cell, Column, Table
from simulation.replay.pipeline import Replay
from simulation.replay.script import CannotReplay
from studies.progress_bars import ProgressBars

DETECTORS = "BiVLC_Classifier_CORRECT_"
TEXT_DETECTORS = "SUGARCREPE_Classifier_"
# Prefix of a file name, before the model's name -> its format.
FORMATS = {"BiVLC_": "bivlc-results", "SUGARCREPE_CORRECT_": "sugarcrepe-results"}


def check_folder(folder: Path) -> None:
    """Raise CannotReplay if there is no result file."""
    if not _files(folder):
        raise CannotReplay(f"{folder} has no result file such as BiVLC_<model>.csv. Name the folder with the results.")


def _files(folder: Path) -> list[tuple[Path, str, str]]:
    """Return file, format and model."""
    return [
        (path, format, path.stem.removeprefix(start))
        for start, format in FORMATS.items()
        for path in sorted(folder.glob(f"{start}*.csv"))
        if not path.name.startswith(DETECTORS)
    ]


def import_results(replay: Replay, folder: Path, *, progress: ProgressBars) -> None:
    """Import every file as predictions of the model in its name. Raises PredictionsRefused."""
    files = _files(folder)
    with replay.time_stage("result files"):
        progress.begin("result files", len(files))
        for path, format, model in files:
            import_predictions(
                project=replay.setting.project,
                file=path,
                format=format,
                model=ModelName(model),
                # A small replay has only a few of the files' instances.
                skip_unknown=not replay.is_whole,
                by=replay.setting.by,
                now=timezone.now(),
            )
            progress.step()


def sugarcrepe_table(folder: Path) -> Table:
    """Return every model's accuracy on SugarCrepe over its whole file."""
    scores = {
        model: score(read_correct(path).correct)
        for path, format, model in _files(folder)
        if format == "sugarcrepe-results"
    }
    return _accuracy_table("sugarcrepe", "Models on SugarCrepe", "Model", scores)


def detectors_table(folder: Path) -> Table:
    """Return scores and accuracies of detectors of synthetic content that use texts and images.

    Over whole files (Miranda et al. 2024, table 5).
    """
    columns = [Column("Detectors"), Column("Instances", "count")]
    columns += [Column(name, "share") for name in ("I2T", "T2I", "Group")]
    accuracies = [Column("Text detection", "share"), Column("Image detection", "share")]
    rows: list[list[Cell]] = []
    for path in sorted(folder.glob(f"{DETECTORS}*.csv")):
        file = read_detections(path)
        if file.image is not None:
            scores = outcomes_of_detectors(file.text, file.image).scores()
            shares = [scores[column.title].share for column in columns[2:]]
            shares += [detection_accuracy(side).share for side in (file.text, file.image)]
            rows.append([path.stem.removeprefix(DETECTORS), scores["Group"].n, *shares])
    return Table("detectors", "Detectors of synthetic content", [*columns, *accuracies], rows)


def text_detectors_table(folder: Path) -> Table:
    """Return how often detectors tell the generated caption from the original, on SugarCrepe; a tie is wrong."""
    files = sorted(folder.glob(f"{TEXT_DETECTORS}*.csv"))
    texts = {path.stem.removeprefix(TEXT_DETECTORS): read_detections(path).text for path in files}
    scores = {name: score(text[:, 0] < text[:, 1]) for name, text in texts.items()}
    return _accuracy_table("text-detectors", "Detectors of synthetic captions on SugarCrepe", "Detectors", scores)


def _accuracy_table(name: str, title: str, what: str, scores: Mapping[str, Score]) -> Table:
    columns = [Column(what), Column("Right", "count"), Column("Of", "count"), Column("Accuracy", "share")]
    rows: list[list[Cell]] = [[about, right.count, right.n, right.share] for about, right in scores.items()]
    return Table(name, title, columns, rows)

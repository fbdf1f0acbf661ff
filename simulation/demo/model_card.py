"""Model card of the demo's model: training, and results on the demo's scenes. Pure, except for drawings."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from analytics.scores import Outcomes, outcomes_of_scores
from predictions.scorers import Scorer
from simulation.demo.manifest import IMAGES, image_names, write_manifest
from simulation.demo.scenes import SceneInstance

COLUMNS = ("Ipos2T", "Ineg2T", "Tpos2I", "Tneg2I", "I2T", "T2I", "Group")
CARD = """\
# {title}

What `make demo` asks the same questions as people: a small contrastive model of drawn scenes. `train_demo_model` made
it, and wrote this card.

| | |
| --- | --- |
| file | `{file}`, {size:,} bytes |
| SHA-256 | `{sha256}` |
| form | ONNX, inputs and metadata as [onnx.py](../onnx.py) says; two towers, compared by their cosine |
| trained | {trained}, by [simulation/demo/model_training.py](../../../simulation/demo/model_training.py) |
| on | scenes drawn by this repository, of other seeds than the demo's; no photo, text or weights of others |
| licence | that of this repository |
| good for | drawn scenes; on photos its scores mean nothing |

How often it is right on the demo's {n} instances that have a picture for both captions, in percent; chance is 50 for
each of the first four, 25 for I2T and T2I, 16.67 for Group.

{table}
"""


def evaluate(scorer: Scorer, instances: Sequence[SceneInstance], folder: Path) -> Outcomes:
    """Return a model's results on the four questions about each instance, drawn into `folder`.

    The negative image is the candidate that shows the negative caption; leave out instances without one.
    """
    write_manifest(instances, folder)
    pairs = [
        (caption, picture)
        for instance in instances
        for picture in _pictures(instance)
        for caption in (instance.scene.caption, instance.negative.caption)
    ]

    def open_picture(name: str) -> Image.Image:
        with Image.open(folder / IMAGES / name) as picture:
            return picture.convert("RGB")

    scores = scorer.score(pairs, open_picture)
    return outcomes_of_scores(np.array(scores, dtype=np.float64).reshape(len(instances), 2, 2))


def _pictures(instance: SceneInstance) -> tuple[str, str]:
    original, candidates = image_names(instance)
    if instance.right is None:
        raise ValueError(f"{instance.key} has no negative image.")
    return original, candidates[instance.right]


def model_card(file: Path, title: str, trained: str, instances: Sequence[SceneInstance], outcomes: Outcomes) -> str:
    """Return the Markdown model card of a model file."""
    data = file.read_bytes()
    return CARD.format(
        title=title,
        file=file.name,
        size=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        trained=trained,
        n=len(instances),
        table=_table(instances, outcomes),
    )


def _table(instances: Sequence[SceneInstance], outcomes: Outcomes) -> str:
    types, subtypes = [each.type for each in instances], [each.subtype for each in instances]
    rows = {" ".join(names): scores for names, scores in outcomes.scores_by(types, subtypes).items()}
    lines = ["| | n | " + " | ".join(COLUMNS) + " |", "| --- |" + " ---: |" * (1 + len(COLUMNS))]
    for name, scores in {**rows, "all": outcomes.scores()}.items():
        shares = " | ".join(str(scores[column].percent()) for column in COLUMNS)
        lines.append(f"| {name} | {scores['I2T'].n} | {shares} |")
    return "\n".join(lines)

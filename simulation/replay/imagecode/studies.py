"""Studies of the replay, from shipped study files, and how retrievers answer them."""

import random
from typing import Any

import yaml
from django.contrib.auth.models import User

from annotation.models import Seat
from simulation.replay.player import Choose
from simulation.replay.stages import launch_file
from studies.kinds import get_kind
from studies.models import Project, Question, Study
from studies.shipped_designs import shipped_designs

FORMAT = "imagecode"
TRAIN, VALID = "train", "valid"
# Number of different placeholders; all images of one set differ. 83,560 files would take as long to store as all
# answers.
PICTURES = 1000


def launch_from(name: str, *, project: Project, slug: str, by: User, seed: str, **changed: Any) -> Study:
    """Launch the shipped study file `name` as `slug`, with a contact, no lobby, and values of `changed`."""
    design: dict[str, Any] = yaml.safe_load(shipped_designs()[name].source)
    # No lobby: the replay decides when people arrive.
    design.pop("lobby", None)
    design |= {"study": slug, "contact": "whoever runs the replay"} | changed
    source = yaml.safe_dump(design, sort_keys=False, allow_unicode=True)
    return launch_file(source, project=project, by=by, seed=seed)


def make_retriever(*, accuracy: float, seed: str) -> Choose:
    """Return the retrievers' answer function: right with the chance `accuracy`, else any other image at random."""
    dice = random.Random(seed)  # noqa: S311 (made-up answers)

    def choose(question: Question, seat: Seat) -> str:
        if dice.random() < accuracy:
            return question.right
        labels = get_kind(question.kind).categories(question.content)
        return dice.choice([label for label in labels if label != question.right])

    return choose

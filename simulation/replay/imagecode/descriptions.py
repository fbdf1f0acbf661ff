"""Replay the describers, in a separate project with some of the sets.

The sets come without descriptions. People write them again, and others search for the images at the same time.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from django.contrib.auth.models import User

from annotation.models import Seat
from simulation.replay.imagecode.studies import FORMAT, PICTURES, VALID, launch_from, make_retriever
from simulation.replay.placeholder_images import fill_with_placeholders
from simulation.replay.player import AT_ONCE, LOOK_EVERY, Crowd, PlayCounts, play
from simulation.replay.stages import import_all
from studies.descriptions import SET_SIZE, descriptions_of
from studies.kinds import NotAnAnswer, get_kind
from studies.models import Instance, Project, Question
from studies.progress_bars import ProgressBars

DESCRIBE, RETRIEVE = "imagecode-describe", "imagecode-retrieve-test"
TEXT, NOT_POSSIBLE = "text", {"text": "", "not_possible": "yes"}

Texts = Mapping[tuple[str, int], str]
"""The text about an image, by the key of its set and its index there, from 0."""


@dataclass
class Describers:
    """Describers who write the published text about an image, or that none can be written.

    `refused`: number of texts that the study rejected, because they name places or other images, are too short, or were
    given before for their set.
    """

    texts: Texts
    keys: Mapping[int, str]
    refused: int = 0
    given: set[tuple[str, str]] = field(default_factory=set)

    def write(self, question: Question, seat: Seat) -> Mapping[str, str]:
        key, kind = self.keys[question.instance_id], get_kind(question.kind)
        marked = next(
            place for place, shown in enumerate(kind.question_content(question.content).pictures) if shown.mark
        )
        text = self.texts.get((key, marked))
        if text is None:
            return NOT_POSSIBLE
        posted = {TEXT: text}
        try:
            said = (key, kind.duplicate_key(kind.parse(question.content, [], posted).value))
        except NotAnAnswer:
            said = None
        if said is None or said in self.given:
            self.refused += 1
            return NOT_POSSIBLE
        self.given.add(said)
        return posted


@dataclass(frozen=True)
class DescriptionResult:
    """The result for the sample. `texts`: number of published texts about its sets."""

    project: Project
    sets: int
    texts: int
    refused: int
    describers: PlayCounts
    retrievers: PlayCounts


def describe_again(
    *, source: Project, project: Project, sets: int, accuracy: float, by: User, seed: str, progress: ProgressBars
) -> DescriptionResult:
    """Have the descriptions of the first `sets` validation sets written and found in `project`.

    accuracy: chance that a retriever finds the image.
    """
    sample = Instance.objects.filter(project=source, split=VALID).order_by("pk")[:sets]
    texts = {
        (instance.key, each.target): each.text
        for instance in sample
        for each in descriptions_of(instance.captions, instance.reference)
        if each.target is not None
    }
    _import_without_descriptions(project, [instance.key for instance in sample], by)
    fill_with_placeholders(project=project, progress=progress, most=PICTURES)
    # Sampled sets are not random: every image with a published text must be asked about.
    describe = launch_from(
        DESCRIBE,
        project=project,
        slug=f"{project.slug}-describe",
        by=by,
        seed=seed,
        ask={"targets": SET_SIZE},
        max_answers=1,
        eligibility=[],
    )
    retrieve = launch_from(
        RETRIEVE,
        project=project,
        slug=f"{project.slug}-retrieve",
        by=by,
        seed=seed,
        instances={"from": describe.slug},
        eligibility=[{"rule": "not_same_instance", "study": describe.slug}],
    )
    writers = Describers(texts, dict(Instance.objects.filter(project=project).values_list("pk", "key")))
    first = Crowd(describe, writers.write)
    then = Crowd(retrieve, make_retriever(accuracy=accuracy, seed=f"{seed}|written"))
    progress.begin("describers and retrievers", describe.questions.count() + 2 * len(texts))
    while first.fill():
        progress.step(first.step() + then.step())
        if first.played.answers % LOOK_EVERY == 0 and len(then.sitting) < AT_ONCE:
            then.arrive()
    play(then, progress=progress)
    return DescriptionResult(project, len(sample), len(texts), writers.refused, first.played, then.played)


def _import_without_descriptions(project: Project, keys: list[str], by: User) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"{VALID}_sets.jsonl"
        file.write_text("".join(json.dumps({"directory": key}) + "\n" for key in keys), encoding="utf-8")
        import_all(project=project, files=[file], format=FORMAT, images_later=True, by=by)

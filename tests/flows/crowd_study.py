"""Makes a launched study of many questions in the database of DATABASE_URL: python -m tests.flows.crowd_study."""

import argparse

import django

django.setup()

from django.utils import timezone

from annotation.actions.launching.launch import launch
from studies.actions.studies import create_study
from studies.models import Instance, InstanceImage, Project
from tests.factories import TESTS, make_image

CANDIDATES = 4


def make_crowd_study(*, slug: str, questions: int, answers: int, size: int) -> None:
    """Open a study of `questions` questions x `answers` answers, in surveys of about `size`, without consent."""
    project = Project.objects.create(slug=slug, name=slug)
    images = [make_image(f"crowd-{number}", width=512, height=512) for number in range(CANDIDATES)]
    texts = {"caption": "A red cube on a table.", "negative_caption": "A blue cube under a table."}
    instances = Instance.objects.bulk_create(
        Instance(
            project=project,
            key=f"row-{number}",
            type="replace",
            subtype="att",
            captions=texts,
            original_captions=texts,
            caption_rule="as-is-v1",
            source_file="crowd.csv",
            source_row=number + 1,
        )
        for number in range(questions)
    )
    InstanceImage.objects.bulk_create(
        InstanceImage(instance=instance, role="candidate", position=position, filename="crowd.png", image=image)
        for instance in instances
        for position, image in enumerate(images)
    )
    file = (
        f"study: {slug}\ntitle: A crowd\ncontact: Ada\nkind: best_of_n\nanswers: {answers}\n"
        f"surveys: {{size: {size}}}\nrecruitment: {{sessions_per_annotator: 0, any_ids: true}}\n"
    )
    launch(study=create_study(project=project, source=file, by=TESTS, now=timezone.now()), by=TESTS, now=timezone.now())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("slug")
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--answers", type=int, default=1)
    parser.add_argument("--size", type=int, default=25)
    chosen = parser.parse_args()
    make_crowd_study(slug=chosen.slug, questions=chosen.questions, answers=chosen.answers, size=chosen.size)

"""Write the demo's study files.

Small versions of BiVLC's step 3, step 4 and baseline, and studies of the images chosen in step 3: fidelity, true
statements, preference over the original. Then small versions of ImageCoDe's two studies, over drawn image sets. The
first file depends on the scenes: two of them are practice, the others are asked about.
"""

from collections.abc import Sequence

from simulation.demo.scenes import SceneInstance

SLUG = "drawn-scenes"
_STUDY = """\
# BiVLC's step 3 in small: choose the image that shows the description, among four drawn candidates.
study: drawn-scenes
title: Which image shows what the description says?
contact: whoever started this demo
kind: best_of_n
ask: {caption: negative_caption, images: candidate, becomes: negative_image}
answers: 1
surveys: {size: 12, double_seats: 2}
rule: chosen-v1
seed: demo
recruitment: {prolific: true, invite: true}
time: {estimated_minutes: 5, limit_minutes: 60}
pay: {currency: USD, per_session: "1.00"}
consent: |
  You are about to take part in a **demonstration**. You will look at drawn images and choose the one that fits a
  description.

  We keep which images you choose and how long it takes. We keep neither your name nor your address on the network.
  You can stop at any time, without giving a reason.
practice:
  pass: 2
  rounds: 2
  questions:
"""


FILTER_SLUG = "drawn-scenes-filter"
FILTER_FILE = """\
# BiVLC's step 4 in small: does only the original image fit the original description? Asks about what the first study
# has accepted, as soon as it is accepted.
study: drawn-scenes-filter
title: Which of two images fits the description?
contact: whoever started this demo
kind: ambiguity
instances: {from: drawn-scenes}
surveys: {size: 10}
seed: demo
time: {estimated_minutes: 5, limit_minutes: 60}
pay: {currency: USD, per_session: "1.00"}
"""
BASELINE_SLUG = "drawn-scenes-baseline"
BASELINE_FILE = """\
# BiVLC's human baseline in small: four questions about each instance of a sample, in two parts, to two people each.
study: drawn-scenes-baseline
title: Match images and descriptions
contact: whoever started this demo
parts:
  - kind: image_to_text
  - kind: text_to_image
instances: {from: drawn-scenes-filter, sample: 12}
answers: 2
surveys: {size: 16}
seed: demo
time: {estimated_minutes: 5, limit_minutes: 60}
pay: {currency: USD, per_session: "1.00"}
"""


RATING_SLUG = "drawn-scenes-ratings"
RATING_FILE = """\
# How well the chosen images show their descriptions: three people rate each on a scale of five steps. It collects,
# and decides nothing.
study: drawn-scenes-ratings
title: How well does the image show what the description says?
contact: whoever started this demo
kind: rating
ask: {caption: negative_caption, images: [negative_image], steps: 5, lowest: not at all, highest: perfectly}
instances: {from: drawn-scenes}
answers: 3
surveys: {size: 8}
seed: demo
time: {estimated_minutes: 5, limit_minutes: 60}
pay: {currency: USD, per_session: "1.00"}
"""
CHECK_SLUG = "drawn-scenes-statements"
CHECK_FILE = """\
# What is true of the chosen images: two people check both descriptions and a statement that is made of all of them.
study: drawn-scenes-statements
title: What is true of the image?
contact: whoever started this demo
kind: check
ask: {image: negative_image, captions: [caption, negative_caption], statements: [Something in the image is blue.]}
instances: {from: drawn-scenes}
answers: 2
surveys: {size: 8}
seed: demo
time: {estimated_minutes: 5, limit_minutes: 60}
pay: {currency: USD, per_session: "1.00"}
"""


COMPARE_SLUG = "drawn-scenes-preferences"
COMPARE_FILE = """\
# Whether the original or the chosen image fits the chosen one's description better, and which is nicer to look at.
study: drawn-scenes-preferences
title: Which image is better?
contact: whoever started this demo
kind: compare
ask:
  caption: negative_caption
  images: [image, negative_image]
  criteria: [Shows better what the description says, Is nicer to look at]
instances: {from: drawn-scenes}
answers: 3
surveys: {size: 8}
seed: demo
time: {estimated_minutes: 5, limit_minutes: 60}
pay: {currency: USD, per_session: "1.00"}
"""


DESCRIBE_SLUG = "drawn-sets-describe"
DESCRIBE_FILE = """\
# ImageCoDe's describers in small: three images of each set, drawn by lot, are told apart in words. A description is
# accepted once the next study has found its image; when it has not, somebody else describes the image.
study: drawn-sets-describe
title: Describe one of ten similar images
contact: whoever started this demo
kind: describe
ask: {targets: 3}
answers: 1
max_answers: 3
surveys: {size: 6}
rule: described-v1
seed: demo
recruitment: {sessions_per_annotator: 0}
eligibility:
  - {rule: not_same_instance, study: drawn-sets-retrieve}
time: {estimated_minutes: 10, limit_minutes: 60}
pay: {currency: USD, per_session: "2.00"}
consent: |
  You are about to take part in a **demonstration**. You will describe drawn images so that others find them.

  We keep what you write and how long it takes. We keep neither your name nor your address on the network.
  You can stop at any time, without giving a reason.
"""
RETRIEVE_SLUG = "drawn-sets-retrieve"
RETRIEVE_FILE = """\
# ImageCoDe's retrievers in small, as for its validation split: two people look for what each description is about, a
# third only where one of the two found it. Nobody meets a set that they have described. Whoever comes while nothing is
# ready waits in the lobby: describe an image in another window, and see the description arrive.
study: drawn-sets-retrieve
title: Which image is described?
contact: whoever started this demo
kind: retrieve
instances: {from: drawn-sets-describe}
answers: 2
max_answers: 3
surveys: {size: 6}
rule: retrieved-2-of-3-v1
seed: demo
recruitment: {sessions_per_annotator: 0}
eligibility:
  - {rule: not_same_instance, study: drawn-sets-describe}
lobby: {minutes: 5, pay: "0.50"}
time: {estimated_minutes: 5, limit_minutes: 60}
pay: {currency: USD, per_session: "1.00"}
"""


def _feedback(instance: SceneInstance) -> str:
    if instance.right is None:
        return "Every image gets a detail wrong, so None of these is the right answer here."
    return "Only this image shows every thing with its colour, its number and its place."


def practice_instances(instances: Sequence[SceneInstance]) -> list[SceneInstance]:
    """Return the last two of their types to practise on: one with a right image, one without."""
    with_right = [instance for instance in instances if instance.right is not None]
    without = [instance for instance in instances if instance.right is None]
    return [with_right[-1], without[-1]]


def study_file(instances: Sequence[SceneInstance]) -> str:
    """Return the YAML of the first study."""
    questions = "".join(
        f"    - instance: {instance.key}\n      right: {instance.right_option}\n      feedback: {_feedback(instance)}\n"
        for instance in practice_instances(instances)
    )
    return _STUDY + questions


def study_files(instances: Sequence[SceneInstance]) -> dict[str, str]:
    """Return the YAML of the studies by slug, each after the study that feeds it."""
    return {
        SLUG: study_file(instances),
        FILTER_SLUG: FILTER_FILE,
        BASELINE_SLUG: BASELINE_FILE,
        RATING_SLUG: RATING_FILE,
        CHECK_SLUG: CHECK_FILE,
        COMPARE_SLUG: COMPARE_FILE,
    }


def image_set_study_files() -> dict[str, str]:
    """Return the YAML of the studies over image sets, as `study_files` does."""
    return {DESCRIBE_SLUG: DESCRIBE_FILE, RETRIEVE_SLUG: RETRIEVE_FILE}

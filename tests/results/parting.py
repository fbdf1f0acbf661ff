"""A project on which people and two models part now and then, small enough to be counted by hand."""

from collections.abc import Callable, Mapping

from predictions.models import Model, Prediction
from studies.kinds import content_hash, get_kind
from studies.models import Project, Question, Study
from tests.factories import NOON, draw_instance, make_model, make_project
from tests.results.pipelines import open_study, sit_through

OTHER = "0" * 64
# What three people say to "people", row by row: right where "1", nothing where ".".
SAID = {
    "row-1": "111",  # both models wrong: people are right
    "row-2": "101",  # one model wrong, the other was not asked: people are right
    "row-3": "111",  # one model right
    "row-4": "010",  # both models right: people are wrong
    "row-5": "10.",  # both models wrong, people divided equally
    "row-6": "...",  # nobody answered
    "row-7": "111",  # the model was shown another picture
    "row-8": "110",  # wrong about this picture, right about another one: people are right
}
# The second study asks about two of them again: 1 is answered wrong, 4 too.
AGAIN = {"row-1": "0", "row-4": "0"}
# Row -> what CLIP and SigLIP answered.
CLIP = {"row-1": "0", "row-2": "0", "row-3": "0", "row-4": "1", "row-5": "0", "row-6": "0", "row-8": "0"}
SIGLIP = {"row-1": "0", "row-3": "1", "row-4": "1", "row-5": "0"}


def make_parting_project() -> Project:
    project = make_project("birds")
    for number in range(1, 9):
        draw_instance(project, number, candidates=0, type="swap" if number > 4 else "replace", subtype="obj")
    people = ask(project, "people", SAID, answers=3)
    ask(project, "again", AGAIN, answers=1)
    clip, siglip = make_model(project), make_model(project, "SigLIP", version="2")
    for model, answers in ((clip, CLIP), (siglip, SIGLIP)):
        for key, right in answers.items():
            # One of them is declared by a file that names no pictures.
            predict(model, people, key, right=right == "1", content="" if (model, key) == (clip, "row-2") else None)
    predict(clip, people, "row-7", right=False, content=OTHER)
    predict(clip, people, "row-8", right=True, content=OTHER)
    return project


def ask(project: Project, slug: str, said: Mapping[str, str], *, answers: int) -> Study:
    """Return a baseline that asks which caption the image has, answered by ann, ben and cleo."""
    study = open_study(
        project,
        {
            "study": slug,
            "kind": "image_to_text",
            "ask": {"images": ["image"]},
            "instances": {"keys": list(said)},
            "answers": answers,
        },
    )
    for place, person in enumerate(("ann", "ben", "cleo")[:answers]):
        rights = {key: of[place] for key, of in said.items()}
        sit_through(study, person, _choosing(rights))
    return study


def _choosing(rights: Mapping[str, str]) -> Callable[[Question], str]:
    said = {"1": "caption", "0": "negative_caption", ".": ""}
    return lambda question: said[rights[question.instance.key]]


def predict(model: Model, study: Study, key: str, *, right: bool, content: str | None) -> None:
    """Store a model's answer to a question of `study`, about `content`, None for what the question shows."""
    question = study.questions.get(instance__key=key)
    Prediction.objects.create(
        model=model,
        instance=question.instance,
        kind=question.kind,
        variant=question.variant,
        caption_rule=question.instance.caption_rule,
        content_hash=content_hash(get_kind(question.kind), question.content) if content is None else content,
        scores={"caption": 0.75 if right else 0.25, "negative_caption": 0.5} if content != "" else None,
        is_right=right,
        source_row=0,
        created_at=NOON,
    )

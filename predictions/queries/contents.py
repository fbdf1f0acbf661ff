"""Select the predictions that can be compared with people's answers: those about the same images and texts."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from typing import Any

from django.db.models import QuerySet

from predictions.models import QUESTIONS, Model, Prediction
from predictions.options import Options, answered_options, options_of
from studies.actions.questions import asked_by_kind
from studies.kinds import Kind, NewQuestion, content_hash, get_kind
from studies.models import Instance, Project, Question, Study, StudyState

CHUNK = 2_000
KINDS = {kind for kind, _ in QUESTIONS.values()}
_Name = tuple[int, str, str]


def stale_predictions(project: Project) -> set[int]:
    """Return the ids of the predictions of `project` about other content than people were asked about.

    If several questions of one name showed different content, the newest counts; if people were asked none, what the
    instance shows today. A prediction without a content hash must have the options of one of these questions.
    """
    about = _counted_predictions(project)
    if not about.exists():
        return set()
    newest: dict[_Name, str] = {}
    options: dict[_Name, set[Options]] = defaultdict(set)
    for name, kind, content in _asked_questions(Question.objects.filter(study__project=project)):
        newest[name] = content_hash(kind, content)
        options[name].add(options_of(kind, content))
    return _superseded_ids(about, newest) | {pk for pk, *_ in _of_other_options(about, options)}


def mismatched_instances(study: Study) -> dict[str, set[int]]:
    """Return the instances whose predictions from files have other options than the questions of `study`.

    Returns model by name -> ids.
    """
    options = {name: {options_of(kind, content)} for name, kind, content in _asked_questions(study.questions.all())}
    models = {model.pk: str(model) for model in Model.objects.filter(project=study.project)}
    found: dict[str, set[int]] = defaultdict(set)
    for _, model, instance in _of_other_options(_counted_predictions(study.project), options):
        found[models[model]].add(instance)
    return dict(found)


def _counted_predictions(project: Project) -> QuerySet[Prediction]:
    return Prediction.objects.about(project).counted().filter(kind__in=KINDS).order_by()


def _superseded_ids(about: QuerySet[Prediction], counts: dict[_Name, str]) -> set[int]:
    """Return the ids of predictions about outdated content."""
    found: dict[_Name, dict[int, str]] = defaultdict(dict)
    rows = about.exclude(content_hash="").values_list("pk", "content_hash", "instance_id", "kind", "variant")
    for pk, content, instance, kind, variant in rows.iterator():
        found[instance, kind, variant][pk] = content
    unasked = {name for name, contents in found.items() if name not in counts and len(set(contents.values())) > 1}
    counts = counts | _current_hashes(unasked)
    return {
        pk
        for name, contents in found.items()
        for pk, content in contents.items()
        # The question is gone, and it showed several contents, so the intended one is unknown.
        if content != counts.get(name, "" if name in unasked else content)
    }


def _of_other_options(
    about: QuerySet[Prediction], options: Mapping[_Name, Set[Options]]
) -> Iterator[tuple[int, int, int]]:
    """Yield the ids of predictions without a content hash whose options are not among `options`.

    Names without options are skipped. Yields the ids of the prediction, its model and its instance.
    """
    rows = about.filter(content_hash="").values_list("pk", "model_id", "instance_id", "kind", "variant", "scores")
    for pk, model, instance, kind, variant, scores in rows.iterator():
        name = (instance, kind, variant)
        if name in options and not any(each.fit(answered_options(kind, scores)) for each in options[name]):
            yield pk, model, instance


def _asked_questions(questions: QuerySet[Question]) -> Iterator[tuple[_Name, Kind, dict[str, Any]]]:
    """Yield the name, kind and content of each of `questions`, oldest first."""
    asked = questions.filter(kind__in=KINDS, taken_out_at=None, undone_at=None)
    launched = asked.exclude(study__state=StudyState.DRAFT).order_by("pk")
    for each in launched.only("instance_id", "kind", "variant", "content").iterator(chunk_size=CHUNK):
        yield (each.instance_id, each.kind, each.variant), get_kind(each.kind), each.content


def _current_hashes(names: set[_Name]) -> dict[_Name, str]:
    """Return the current content hash of each question that still exists."""
    shown: dict[_Name, str] = {}
    for kind in {kind for _, kind, _ in names}:
        instances = Instance.objects.filter(pk__in={instance for instance, of, _ in names if of == kind}).order_by("pk")
        for instance, built in asked_by_kind(get_kind(kind), instances):
            if isinstance(built, NewQuestion):
                shown[instance.pk, kind, built.variant] = content_hash(get_kind(kind), built.content)
    return shown

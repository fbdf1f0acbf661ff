"""Which predictions can be compared with what people said: those about the very same pictures and texts."""

from collections import defaultdict

from predictions.models import QUESTIONS, Prediction
from studies.actions.questions import asked_by_kind
from studies.kinds import Built, content_hash, get_kind
from studies.models import Instance, Project, Question, StudyState

CHUNK = 2_000
# Instance, kind and variant: what a question is called, whatever it shows.
_Name = tuple[int, str, str]


def stale_predictions(project: Project) -> set[int]:
    """Return the ids of the predictions of `project` that are about something else than people were asked.

    Where several questions of one name showed different things, the newest counts; where people were asked none, what
    the instance shows today. Predictions that declare no content are never among them: nobody can tell.
    """
    kinds = {kind for kind, _ in QUESTIONS.values()}
    found: dict[_Name, dict[int, str]] = defaultdict(dict)
    about = Prediction.objects.about(project).filter(kind__in=kinds).exclude(content_hash="").order_by()
    rows = about.values_list("pk", "content_hash", "instance_id", "kind", "variant")
    for pk, content, instance, kind, variant in rows.iterator():
        found[instance, kind, variant][pk] = content
    if not found:
        return set()
    counts = _asked_of_people(project, kinds)
    unasked = {name for name, contents in found.items() if name not in counts and len(set(contents.values())) > 1}
    counts |= _shown_today(unasked)
    return {
        pk
        for name, contents in found.items()
        for pk, content in contents.items()
        # Nothing of the name is shown any more, and it was more than one thing: nobody can tell which is meant.
        if content != counts.get(name, "" if name in unasked else content)
    }


def _asked_of_people(project: Project, kinds: set[str]) -> dict[_Name, str]:
    """Return what the newest question of each name shows, by its hash."""
    asked: dict[_Name, str] = {}
    questions = Question.objects.filter(study__project=project, kind__in=kinds, taken_out_at=None, undone_at=None)
    launched = questions.exclude(study__state=StudyState.DRAFT).order_by("pk")
    for each in launched.only("instance_id", "kind", "variant", "content").iterator(chunk_size=CHUNK):
        name = (each.instance_id, each.kind, each.variant)
        asked[name] = content_hash(get_kind(each.kind), each.content)
    return asked


def _shown_today(names: set[_Name]) -> dict[_Name, str]:
    """Return what the instances show by now, where there is still a question of that name, by its hash."""
    shown: dict[_Name, str] = {}
    for kind in {kind for _, kind, _ in names}:
        instances = Instance.objects.filter(pk__in={instance for instance, of, _ in names if of == kind}).order_by("pk")
        for instance, built in asked_by_kind(get_kind(kind), instances):
            if isinstance(built, Built):
                shown[instance.pk, kind, built.variant] = content_hash(get_kind(kind), built.content)
    return shown

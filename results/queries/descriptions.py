"""The descriptions of image sets that leave, streamed: those that came with an import.

A description that a study accepts is to come from here too, after those that its set had already.
"""

from collections.abc import Iterator

from django.db.models import Exists, OuterRef, QuerySet

from results.exporting.rows import DescribedImage
from studies.descriptions import descriptions_of, role_of
from studies.models import Instance, Project, Question, Study

CHUNK = 1000


def descriptions_of_study(study: Study) -> Iterator[DescribedImage]:
    """Yield the descriptions of the sets that `study` asks about, in the order of their import."""
    asked = Question.objects.filter(study=study, instance=OuterRef("pk"))
    return _descriptions(Instance.objects.filter(Exists(asked), project=study.project_id))


def descriptions_of_project(project: Project) -> Iterator[DescribedImage]:
    """Yield the descriptions of all sets of `project`, in the order of their import."""
    return _descriptions(Instance.objects.filter(project=project))


def _descriptions(instances: QuerySet[Instance]) -> Iterator[DescribedImage]:
    described = instances.filter(captions__has_key=role_of(1)).order_by("id")
    rows = described.values_list("key", "split", "captions", "reference").iterator(chunk_size=CHUNK)
    for key, split, captions, reference in rows:
        for each in descriptions_of(captions, reference):
            yield DescribedImage(key, split, each.number, each.text, each.target, each.author)

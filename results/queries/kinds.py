"""What can be answered to the questions of a study, as their kinds say of what was frozen into them."""

from collections.abc import Mapping

from results.reports.facts import Answerable
from studies.kinds import get_kind
from studies.models import Question, Study


def answerable_in(study: Study) -> Mapping[str, Answerable]:
    """Return kind -> what can be answered to its questions; those of the first one stand for all.

    Options that stand in a random order may differ between questions; those that always come last, and how answers
    compare, do not.
    """
    found: dict[str, Answerable] = {}
    for part in study.design.parts:
        if part.kind not in found:
            found[part.kind] = _answerable(study, part.kind)
    return found


def _answerable(study: Study, name: str) -> Answerable:
    content = Question.objects.filter(study=study, kind=name).order_by("pk").values_list("content", flat=True).first()
    if content is None:
        return Answerable()
    kind = get_kind(name)
    options = kind.options(content)
    return Answerable(
        options=[option.key for option in options],
        last=[option.key for option in options if not option.shuffled],
        names={option.key: option.label for option in options if option.label},
        collapses=kind.collapses(content),
        scale=kind.scale(content),
    )
